/* A pipeline whose large message is computed into the same buffer in each iteration: it is sent from a
 * copy, while the next one is computed. */
#include <mpi.h>
#include <stdio.h>

#define N 20000

int main(int argc, char **argv)
{
    static double field[N];
    double out[N];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 6; k++) {
        if (rank > 0) {
            MPI_Recv(field, N, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < N; i++)
            out[i] = 0.5 * field[i] + 1.0 / (1.0 + i * k);
        if (rank < size - 1) {
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
        }
    }
    printf("%d %.17g %.17g\n", rank, out[1], out[N - 1]);
    MPI_Finalize();
    return 0;
}
