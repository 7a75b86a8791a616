/* A step that begins with a clock and a counter, and ends with the largest change of all ranks:
   these stay with the boundary, and a copy of the field back does too. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#define N 64
static double u[N + 2][N + 2], v[N + 2][N + 2], seconds;
static int up, down, steps;

static void exchange(void)
{
    MPI_Sendrecv(&u[1][1], N, MPI_DOUBLE, up, 0, &u[N + 1][1], N, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[N][1], N, MPI_DOUBLE, down, 1, &u[0][1], N, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double step(double weight)
{
    double begin = MPI_Wtime();
    double change = 0.0;
    double every;
    int i, j;

    steps++;
    for (i = 1; i <= N; i++)
        for (j = 1; j <= N; j++) {
            double d = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) - u[i][j];
            v[i][j] = u[i][j] + weight * d;
            change = fmax(change, fabs(d));
        }
    for (i = 1; i <= N; i++)
        for (j = 1; j <= N; j++)
            u[i][j] = v[i][j];
    MPI_Allreduce(&change, &every, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    seconds += MPI_Wtime() - begin;
    return every;
}

int main(int argc, char **argv)
{
    int rank, size;
    double change = 1.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            u[i][j] = (i * 7 + j * 3 + rank * 5) % 11;
    for (int k = 0; k < 20 && change > 1e-9; k++) {
        exchange();
        change = step(0.9);
        if (rank == 0)
            printf("%d %.17g\n", steps, change);
    }
    printf("%d %.17g %d\n", rank, u[N][N], seconds > 0.0);
    MPI_Finalize();
    return 0;
}
