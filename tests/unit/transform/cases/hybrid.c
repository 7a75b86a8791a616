/* MPI and OpenMP: each thread takes rows of the step, and both parts of it have the directive. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define NX 64
#define NY 40

static double u[NY + 2][NX], v[NY + 2][NX], w[NX];
static int up, down;

static void exchange(double (*x)[NX])
{
    MPI_Sendrecv(x[1], NX, MPI_DOUBLE, up, 0, x[NY + 1], NX, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(x[NY], NX, MPI_DOUBLE, down, 1, x[0], NX, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    double sum = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int j = 0; j < NY + 2; j++)
        for (int i = 0; i < NX; i++)
            u[j][i] = (j * 7 + i * 3 + rank) % 11;
    memcpy(v, u, sizeof u);
    for (int step = 0; step < 10; step++) {
#pragma omp parallel for
        for (int i = 0; i < NX; i++)
            w[i] = 0.5 * w[i] + i;
        exchange(u);
#pragma omp parallel for schedule(static) \
    default(none) shared(u, v, w)
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i < NX - 1; i++)
                v[j][i] = 0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]) + w[i];
#pragma omp parallel for collapse(2)
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i < NX - 1; i++)
                u[j][i] = v[j][i];
    }
    for (int j = 1; j <= NY; j++)
        for (int i = 0; i < NX; i++)
            sum += u[j][i] * (i % 7);
    printf("%d %.15g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
