/* The exchange of a strip's two rows is a routine of its own; its caller has the computation. */
#include <mpi.h>
#include <stdio.h>

#define N 300
static double u[N + 2][N + 2], v[N + 2][N + 2], w[N];

static void exchange(double (*f)[N + 2], int up, int down)
{
    int count = N;
    MPI_Sendrecv(&f[1][1], count, MPI_DOUBLE, up, 0, &f[N + 1][1], count, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&f[N][1], count, MPI_DOUBLE, down, 1, &f[0][1], count, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void smooth(void)
{
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j]) + 0.5 * u[i][j];
}

int main(int argc, char **argv)
{
    int rank, size, up, down;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + size - 1) % size;
    down = (rank + 1) % size;
    for (int step = 0; step < 6; step++) {
        for (int i = 0; i < N + 2; i++)
            for (int j = 0; j < N + 2; j++)
                u[i][j] = i + 0.5 * j * rank + step;
        exchange(u, up, down);
        /* Independent of the exchange. */
        for (int j = 0; j < N; j++)
            w[j] += 0.5 * j;
        smooth();
        exchange(v, up, down);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                u[i][j] = 0.5 * (v[i - 1][j] + v[i + 1][j]);
    }
    printf("%d %.17g %.17g %.17g\n", rank, v[1][3], u[N][7], w[5]);
    MPI_Finalize();
    return 0;
}
