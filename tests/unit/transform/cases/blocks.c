/* A pipeline: each rank goes on with the rows of the one before, block of columns by block. */
#include <mpi.h>
#include <stdio.h>
#define NX 24
#define NY 120
#define BLOCK 20
static double a[NX + 1][NY];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double sum = 0;
    for (int i = 0; i <= NX; i++)
        for (int j = 0; j < NY; j++)
            a[i][j] = (i + j + rank) % 4;
    for (int step = 0; step < 4; step++)
        for (int b = 0; b < NY; b += BLOCK) {
            if (rank > 0)
                MPI_Recv(&a[0][b], BLOCK, MPI_DOUBLE, rank - 1, b, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            for (int i = 1; i <= NX; i++)
                for (int j = b; j < b + BLOCK; j++)
                    a[i][j] = 0.5 * (a[i][j] + a[i - 1][j]);
            if (rank < size - 1)
                MPI_Send(&a[NX][b], BLOCK, MPI_DOUBLE, rank + 1, b, MPI_COMM_WORLD);
        }
    for (int i = 1; i <= NX; i++)
        for (int j = 0; j < NY; j++)
            sum += a[i][j] * (j % 3);
    printf("%d %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
