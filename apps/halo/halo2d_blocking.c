/* Blocking: four MPI_Sendrecv, one after the other, then the whole block. */
#include "halo2d.h"

void step_blocking(const struct block *b, double *u, double *unew)
{
    int nx = b->nx, ny = b->ny;
    MPI_Sendrecv(&u[at(b, 1, 1)], ny, MPI_DOUBLE, b->north, 1, &u[at(b, nx + 1, 1)], ny, MPI_DOUBLE,
                 b->south, 1, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[at(b, nx, 1)], ny, MPI_DOUBLE, b->south, 2, &u[at(b, 0, 1)], ny, MPI_DOUBLE,
                 b->north, 2, b->comm, MPI_STATUS_IGNORE);

    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_west[i - 1] = u[at(b, i, 1)];
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            b->send_east[i - 1] = u[at(b, i, ny)];
    MPI_Sendrecv(b->send_west, nx, MPI_DOUBLE, b->west, 3, b->recv_east, nx, MPI_DOUBLE, b->east, 3,
                 b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->send_east, nx, MPI_DOUBLE, b->east, 4, b->recv_west, nx, MPI_DOUBLE, b->west, 4,
                 b->comm, MPI_STATUS_IGNORE);
    if (b->west != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            u[at(b, i, 0)] = b->recv_west[i - 1];
    if (b->east != MPI_PROC_NULL)
        for (int i = 1; i <= nx; i++)
            u[at(b, i, ny + 1)] = b->recv_east[i - 1];

    sweep(b, u, unew, 1, nx, 1, ny);
}
