/* The stages of a pipeline, down and up again, through buffers that are free once unpacked. */
#include <mpi.h>
#include <stdio.h>

#define N 3000
static double u[N], west[N], north[N], out[N];
static int planes = 12;

static void unpack(double *x, const double *edge)
{
    for (int i = 0; i < N; i++)
        x[i] = x[i] + edge[i];
}

static void solve(double *x, int k)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + k;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    planes += argc;
    for (int k = 0; k < planes; k++) {
        if (rank > 0) {
            MPI_Recv(west, N, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(north, N, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            unpack(u, west);
            unpack(u, north);
        }
        solve(u, k);
        if (rank < size - 1) {
            MPI_Send(u, N, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
            MPI_Send(u, N, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD);
        }
    }
    for (int k = planes; k >= 0; k -= 3) {
        if (rank < size - 1)
            MPI_Recv(west, N, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack(u, west);
        solve(u, k);
        if (rank > 0)
            MPI_Send(u, N, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD);
    }
    printf("%d %.17g %.17g\n", rank, u[3], u[N - 1]);
    MPI_Finalize();
    return 0;
}
