#include <mpi.h>
#include <stdio.h>
#define N 2000

static double x[N], in[N], out[N];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 8; k++) {
        double sum = 0.0;
        for (int i = 0; i < N; i++) /* independent of the neighbour */
            x[i] = 0.25 * i + k;
        if (rank > 0)
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 5, MPI_COMM_WORLD, &status);
        for (int i = 0; i < N; i++)
            sum += x[i];
        for (int i = 0; i < N; i++)
            out[i] = in[i] + x[i] + sum;
        if (rank < size - 1) {
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD);
        }
        for (int i = 0; i < N; i++)
            x[i] = x[i] + out[i];
    }
    printf("%d %.17g %.17g\n", rank, out[N - 1], x[3]);
    MPI_Finalize();
    return 0;
}
