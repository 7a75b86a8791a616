/* The consumer of two rows and the producer of two: the nests are divided, so that the rows travel
 * while the interior is computed. */
#include <mpi.h>
#include <stdio.h>

#define N 400
static double u[N + 2][N + 2], v[N + 2][N + 2];

int main(int argc, char **argv)
{
    int rank, size, up, down;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + size - 1) % size;
    down = (rank + 1) % size;
    for (int step = 0; step < 5; step++) {
        /* Each point anew. */
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                u[i][j] = 0.25 * v[i][j] + i + rank * j;
        MPI_Sendrecv(&u[1][1], N, MPI_DOUBLE, up, 0, &u[N + 1][1], N, MPI_DOUBLE, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[N][1], N, MPI_DOUBLE, down, 1, &u[0][1], N, MPI_DOUBLE, up, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) {
                double mean = 0.5 * (u[i - 1][j] + u[i + 1][j]);
                v[i][j] = mean + 0.5 * (u[i][j - 1] - u[i][j + 1]);
            }
    }
    for (int i = 1; i <= N; i++)
        sum += v[i][1] + v[i][N] + v[1][i] + v[N][i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
