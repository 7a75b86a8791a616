/* A slice of an atmosphere, split along x: fields in one array, a stencil that is gathered first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define HS 2
#define STEN 4
#define NVARS 2

static int nx, nz = 6, left, right;
static double *flux, *tend, *send_l, *send_r, *recv_l, *recv_r;

static void exchange(double *state)
{
    int k, l, s;
    MPI_Request incoming[2], outgoing[2];

    MPI_Irecv(recv_l, HS * nz * NVARS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &incoming[0]);
    MPI_Irecv(recv_r, HS * nz * NVARS, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &incoming[1]);
    for (l = 0; l < NVARS; l++)
        for (k = 0; k < nz; k++)
            for (s = 0; s < HS; s++) {
                send_l[l * nz * HS + k * HS + s] =
                    state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + HS + s];
                send_r[l * nz * HS + k * HS + s] =
                    state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + nx + s];
            }
    MPI_Isend(send_l, HS * nz * NVARS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &outgoing[0]);
    MPI_Isend(send_r, HS * nz * NVARS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &outgoing[1]);
    MPI_Waitall(2, incoming, MPI_STATUSES_IGNORE);
    for (l = 0; l < NVARS; l++)
        for (k = 0; k < nz; k++)
            for (s = 0; s < HS; s++) {
                state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + s] =
                    recv_l[l * nz * HS + k * HS + s];
                state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + nx + HS + s] =
                    recv_r[l * nz * HS + k * HS + s];
            }
    MPI_Waitall(2, outgoing, MPI_STATUSES_IGNORE);
}

static void tendencies(const double *state, double scale)
{
    int i, k, l, s;
    double stencil[STEN], third[NVARS], value[NVARS], speed;

    for (k = 0; k < nz; k++)
        for (i = 0; i < nx + 1; i++) {
            for (l = 0; l < NVARS; l++) {
                for (s = 0; s < STEN; s++)
                    stencil[s] =
                        state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + i + s];
                value[l] = (7 * (stencil[1] + stencil[2]) - stencil[0] - stencil[3]) / 12;
                third[l] = stencil[3] - stencil[0] + 3 * (stencil[1] - stencil[2]);
            }
            speed = value[1] / (2.0 + value[0]);
            flux[k * (nx + 1) + i] = speed * value[0] - scale * third[0];
            flux[(nz + 1) * (nx + 1) + k * (nx + 1) + i] = speed * value[1] - scale * third[1];
        }
    for (l = 0; l < NVARS; l++)
        for (k = 0; k < nz; k++)
            for (i = 0; i < nx; i++)
                tend[l * nz * nx + k * nx + i] =
                    flux[l * (nz + 1) * (nx + 1) + k * (nx + 1) + i] -
                    flux[l * (nz + 1) * (nx + 1) + k * (nx + 1) + i + 1];
}

int main(int argc, char **argv)
{
    int rank, size, step, i, k, l, cells;
    double *state, sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    nx = 40 / size;
    cells = (nx + 2 * HS) * (nz + 2 * HS) * NVARS;
    state = malloc(cells * sizeof *state);
    flux = malloc((nx + 1) * (nz + 1) * NVARS * sizeof *flux);
    tend = malloc(nx * nz * NVARS * sizeof *tend);
    send_l = malloc(HS * nz * NVARS * sizeof *send_l);
    send_r = malloc(HS * nz * NVARS * sizeof *send_r);
    recv_l = malloc(HS * nz * NVARS * sizeof *recv_l);
    recv_r = malloc(HS * nz * NVARS * sizeof *recv_r);
    for (i = 0; i < cells; i++)
        state[i] = 0.25 + 0.001 * (i * 7 % 11) + rank;
    for (step = 0; step < 5; step++) {
        exchange(state);
        tendencies(state, 0.01);
        for (l = 0; l < NVARS; l++)
            for (k = 0; k < nz; k++)
                for (i = 0; i < nx; i++)
                    state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + i + HS] +=
                        0.05 * tend[l * nz * nx + k * nx + i];
    }
    for (i = 0; i < cells; i++)
        sum += state[i];
    printf("%d: %.15g\n", rank, sum);
    free(state);
    free(flux);
    free(tend);
    free(send_l);
    free(send_r);
    free(recv_l);
    free(recv_r);
    MPI_Finalize();
    return 0;
}
