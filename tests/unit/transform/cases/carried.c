/* A pipeline: what a rank has computed goes to the next one while it computes the next part. The
 * wait is in the next iteration, where the buffer is filled again. */
#include <mpi.h>
#include <stdio.h>

#define N 1000
#define PARTS 12
static double u[PARTS][N], in[N], out[N];

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < PARTS; k++) {
        for (int i = 0; i < N; i++)
            u[k][i] = 1.0 / (1.0 + i + k * rank);
        if (rank > 0) {
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                u[k][i] += 0.5 * in[i] * u[k][i];
        }
        for (int i = 0; i < N; i++)
            out[i] = 2.0 * u[k][i];
        if (rank < size - 1)
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 7, MPI_COMM_WORLD);
    }
    for (int k = 0; k < PARTS; k++)
        sum += u[k][1] + u[k][N - 1];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
