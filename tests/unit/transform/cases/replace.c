/* A block is handed around the ring in one buffer: with a copy to send from, it travels while the
 * rank works on something else. */
#include <mpi.h>
#include <stdio.h>

#define N 500
static double field[N];

static void work(double *x, int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < N; i++)
            x[i] = 0.5 * x[i] + 1.0;
}

int main(int argc, char **argv)
{
    int rank, size;
    double block[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        block[i] = rank + 0.001 * i;
    for (int step = 0; step < 3; step++) {
        MPI_Sendrecv_replace(block, N, MPI_DOUBLE, (rank + 1) % size, 7, (rank + size - 1) % size,
                             7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(field, 20);
        for (int i = 0; i < N; i++)
            field[i] += block[i];
    }
    printf("%d %.17g %.17g\n", rank, field[3], block[N - 1]);
    MPI_Finalize();
    return 0;
}
