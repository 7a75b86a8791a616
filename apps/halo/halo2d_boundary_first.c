/* The rim of a step is computed first and sent at once; the interior is computed while it travels
 * (loop indexing on the side of the sender). A step leaves the ghosts of its result complete. */
#include "halo2d.h"

static void start(const struct block *b, double *u, MPI_Request *requests)
{
    int nx = b->nx, ny = b->ny;
    MPI_Irecv(&u[at(b, nx + 1, 1)], ny, MPI_DOUBLE, b->south, 1, b->comm, &requests[0]);
    MPI_Irecv(&u[at(b, 0, 1)], ny, MPI_DOUBLE, b->north, 2, b->comm, &requests[1]);
    MPI_Irecv(b->recv_east, nx, MPI_DOUBLE, b->east, 3, b->comm, &requests[2]);
    MPI_Irecv(b->recv_west, nx, MPI_DOUBLE, b->west, 4, b->comm, &requests[3]);
    MPI_Isend(&u[at(b, 1, 1)], ny, MPI_DOUBLE, b->north, 1, b->comm, &requests[4]);
    MPI_Isend(&u[at(b, nx, 1)], ny, MPI_DOUBLE, b->south, 2, b->comm, &requests[5]);
    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_west[i - 1] = u[at(b, i, 1)];
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_east[i - 1] = u[at(b, i, ny)];
    MPI_Isend(b->send_west, nx, MPI_DOUBLE, b->west, 3, b->comm, &requests[6]);
    MPI_Isend(b->send_east, nx, MPI_DOUBLE, b->east, 4, b->comm, &requests[7]);
}

static void finish(const struct block *b, double *u, MPI_Request *requests)
{
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= b->nx; i++)
            u[at(b, i, 0)] = b->recv_west[i - 1];
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= b->nx; i++)
            u[at(b, i, b->ny + 1)] = b->recv_east[i - 1];
}

void step_boundary_first(const struct block *b, double *u, double *unew)
{
    static int ghosts_known;
    int nx = b->nx, ny = b->ny;
    MPI_Request requests[8];

    if (!ghosts_known) {
        start(b, u, requests);
        finish(b, u, requests);
        ghosts_known = 1;
    }
    sweep(b, u, unew, 1, 1, 1, ny);
    if (nx > 1)
        sweep(b, u, unew, nx, nx, 1, ny);
    sweep(b, u, unew, 2, nx - 1, 1, 1);
    if (ny > 1)
        sweep(b, u, unew, 2, nx - 1, ny, ny);
    start(b, unew, requests);
    sweep(b, u, unew, 2, nx - 1, 2, ny - 1);
    finish(b, unew, requests);
}
