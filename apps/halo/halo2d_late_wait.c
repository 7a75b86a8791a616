/* Nonblocking calls, but all of them are waited for before any point is computed. */
#include "halo2d.h"

void step_late_wait(const struct block *b, double *u, double *unew)
{
    int nx = b->nx, ny = b->ny;
    MPI_Request requests[8];

    MPI_Irecv(&u[at(b, nx + 1, 1)], ny, MPI_DOUBLE, b->south, 1, b->comm, &requests[0]);
    MPI_Irecv(&u[at(b, 0, 1)], ny, MPI_DOUBLE, b->north, 2, b->comm, &requests[1]);
    MPI_Irecv(b->recv_east, nx, MPI_DOUBLE, b->east, 3, b->comm, &requests[2]);
    MPI_Irecv(b->recv_west, nx, MPI_DOUBLE, b->west, 4, b->comm, &requests[3]);

    MPI_Isend(&u[at(b, 1, 1)], ny, MPI_DOUBLE, b->north, 1, b->comm, &requests[4]);
    MPI_Isend(&u[at(b, nx, 1)], ny, MPI_DOUBLE, b->south, 2, b->comm, &requests[5]);
    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_west[i - 1] = u[at(b, i, 1)];
    MPI_Isend(b->send_west, nx, MPI_DOUBLE, b->west, 3, b->comm, &requests[6]);
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_east[i - 1] = u[at(b, i, ny)];
    MPI_Isend(b->send_east, nx, MPI_DOUBLE, b->east, 4, b->comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);

    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            u[at(b, i, 0)] = b->recv_west[i - 1];
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            u[at(b, i, ny + 1)] = b->recv_east[i - 1];

    sweep(b, u, unew, 1, nx, 1, ny);
}
