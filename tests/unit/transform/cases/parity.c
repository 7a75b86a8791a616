/* A rod: even and odd ranks exchange in turn, in a routine of its own that packs what the left
 * neighbour gets. Its caller computes, most of it on what no message touches. */
#include <mpi.h>
#include <stdio.h>

#define N 4096
#define W 8
static double u[N + 2 * W], v[N + 2 * W];
static int rank, size;

static void exchange(double *a)
{
    double in[W], out[W];

    for (int k = 0; k < W; k++)
        out[k] = 0.5 * (a[W + k] + a[W]);
    if (rank % 2 == 0) {
        if (rank < size - 1) {
            MPI_Send(&a[N], W, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, W, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < W; k++)
                a[N + W + k] = 2.0 * in[k] - in[0];
        }
        if (rank > 0) {
            MPI_Send(out, W, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&a[0], W, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else {
        MPI_Recv(&a[0], W, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, W, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD);
        if (rank < size - 1) {
            MPI_Recv(in, W, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&a[N], W, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
            for (int k = 0; k < W; k++)
                a[N + W + k] = 2.0 * in[k] - in[0];
        }
    }
}

int main(int argc, char **argv)
{
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N + 2 * W; i++)
        u[i] = rank + 0.001 * i;
    for (int step = 0; step < 20; step++) {
        exchange(u);
        for (int i = 2 * W; i < N; i++)
            v[i] = 0.25 * (u[i - W] + u[i + W - 1]) + 0.5 * u[i] / (1.0 + u[i] * u[i]);
        for (int i = W; i < 2 * W; i++)
            v[i] = 0.5 * (u[i - W] + u[i + W - 1]);
        for (int i = N; i < N + W; i++)
            v[i] = 0.5 * (u[i - W] + u[i + W]);
        for (int i = W; i < N + W; i++)
            u[i] = v[i];
    }
    for (int i = W; i < N + W; i++)
        sum += u[i] * i;
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
