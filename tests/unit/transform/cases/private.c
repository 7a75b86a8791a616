/* Two columns pass through one local buffer: with an array for each, the second is computed while
 * the first is on its way. */
#include <mpi.h>
#include <stdio.h>

#define N 300
static double u[N + 2][N + 2];

static void exchange(int left, int right)
{
    int i;
    double buf[N];

    if (left >= 0) {
        for (i = 0; i < N; i++)
            buf[i] = 0.5 * u[i + 1][1];
        MPI_Send(buf, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD);
    }
    if (right >= 0) {
        for (i = 0; i < N; i++)
            buf[i] = 0.5 * u[i + 1][N];
        MPI_Send(buf, N, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
        MPI_Recv(buf, N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (i = 0; i < N; i++)
            u[i + 1][N + 1] = 0.5 * u[i + 1][N + 1] + buf[i];
    }
    if (left >= 0) {
        MPI_Recv(buf, N, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (i = 0; i < N; i++)
            u[i + 1][0] = 0.5 * u[i + 1][0] + buf[i];
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++)
            u[i][j] = i * 1.5 + j * rank;
    exchange(rank - 1, rank + 1 < size ? rank + 1 : -1);
    printf("%d %.17g %.17g\n", rank, u[3][0], u[7][N + 1]);
    MPI_Finalize();
    return 0;
}
