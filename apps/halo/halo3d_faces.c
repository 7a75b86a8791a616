/* Blocking as well, but written out: each pair of faces is packed and exchanged by loops with
 * bounds of their own, and the nest stands in the routine. Behind a cold face the buffers stay
 * zero. */
#include "../common/work.h"
#include "halo3d.h"

void step_faces(const struct brick *b, double *u, double *unew)
{
    int nx = b->n[0], ny = b->n[1], nz = b->n[2];
    double d = b->diffusion;

    for (int j = 1; j <= ny; j++)
        for (int k = 1; k <= nz; k++) {
            b->to_west[(j - 1) * nz + k - 1] = u[at(b, 1, j, k)];
            b->to_east[(j - 1) * nz + k - 1] = u[at(b, nx, j, k)];
        }
    for (int i = 1; i <= nx; i++)
        for (int k = 1; k <= nz; k++) {
            b->to_south[(i - 1) * nz + k - 1] = u[at(b, i, 1, k)];
            b->to_north[(i - 1) * nz + k - 1] = u[at(b, i, ny, k)];
        }
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++) {
            b->to_down[(i - 1) * ny + j - 1] = u[at(b, i, j, 1)];
            b->to_up[(i - 1) * ny + j - 1] = u[at(b, i, j, nz)];
        }
    MPI_Sendrecv(b->to_west, ny * nz, MPI_DOUBLE, b->peer[0], 0, b->from_east, ny * nz, MPI_DOUBLE,
                 b->peer[1], 0, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->to_east, ny * nz, MPI_DOUBLE, b->peer[1], 1, b->from_west, ny * nz, MPI_DOUBLE,
                 b->peer[0], 1, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->to_south, nx * nz, MPI_DOUBLE, b->peer[2], 2, b->from_north, nx * nz,
                 MPI_DOUBLE, b->peer[3], 2, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->to_north, nx * nz, MPI_DOUBLE, b->peer[3], 3, b->from_south, nx * nz,
                 MPI_DOUBLE, b->peer[2], 3, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->to_down, nx * ny, MPI_DOUBLE, b->peer[4], 4, b->from_up, nx * ny, MPI_DOUBLE,
                 b->peer[5], 4, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->to_up, nx * ny, MPI_DOUBLE, b->peer[5], 5, b->from_down, nx * ny, MPI_DOUBLE,
                 b->peer[4], 5, b->comm, MPI_STATUS_IGNORE);
    for (int j = 1; j <= ny; j++)
        for (int k = 1; k <= nz; k++) {
            u[at(b, 0, j, k)] = b->from_west[(j - 1) * nz + k - 1];
            u[at(b, nx + 1, j, k)] = b->from_east[(j - 1) * nz + k - 1];
        }
    for (int i = 1; i <= nx; i++)
        for (int k = 1; k <= nz; k++) {
            u[at(b, i, 0, k)] = b->from_south[(i - 1) * nz + k - 1];
            u[at(b, i, ny + 1, k)] = b->from_north[(i - 1) * nz + k - 1];
        }
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++) {
            u[at(b, i, j, 0)] = b->from_down[(i - 1) * ny + j - 1];
            u[at(b, i, j, nz + 1)] = b->from_up[(i - 1) * ny + j - 1];
        }

    WORK((double)nx * ny * nz);
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++)
            for (int k = 1; k <= nz; k++)
                unew[at(b, i, j, k)] =
                    u[at(b, i, j, k)] +
                    d * (u[at(b, i - 1, j, k)] + u[at(b, i + 1, j, k)] + u[at(b, i, j - 1, k)] +
                         u[at(b, i, j + 1, k)] + u[at(b, i, j, k - 1)] + u[at(b, i, j, k + 1)] -
                         6.0 * u[at(b, i, j, k)]);
}
