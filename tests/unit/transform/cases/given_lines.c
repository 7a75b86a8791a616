/* One array in two ways: elements for what communicates, lines for what computes, and reversed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int up, down;

static void post(int n, int w, double *u)
{
    MPI_Sendrecv(u + w, w, MPI_DOUBLE, up, 1, u + (n + 1) * w, w, MPI_DOUBLE, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u + n * w, w, MPI_DOUBLE, down, 2, u, w, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void relax(int n, int w, double (*u)[w], double (*v)[w])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < w - 1; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void lines(int n, int w, double u[n + 2][w])
{
    MPI_Sendrecv(u[1], w, MPI_DOUBLE, up, 3, u[n + 1], w, MPI_DOUBLE, down, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[n], w, MPI_DOUBLE, down, 4, u[0], w, MPI_DOUBLE, up, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void smooth(int n, int w, const double *u, double *v)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < w - 1; j++)
            v[i * w + j] = 0.5 * u[i * w + j] + 0.25 * (u[(i - 1) * w + j] + u[(i + 1) * w + j]);
}

static double sum(int count, const double *u)
{
    double mine = 0, total;
    for (int i = 0; i < count; i++)
        mine += u[i] * (i % 13 + 1);
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = argc > 1 ? atoi(argv[1]) : 8, m = argc > 2 ? atoi(argv[2]) : 5, w = m + 2;
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    double *u = malloc((n + 2) * w * sizeof(double));
    double *v = malloc((n + 2) * w * sizeof(double));
    for (int i = 0; i < (n + 2) * w; i++)
        u[i] = v[i] = rank + 0.1 * (i % 7);
    for (int s = 0; s < 4; s++) {
        post(n, w, u);
        relax(n, w, (double (*)[w])u, (double (*)[w])v);
        lines(n, w, (void *)v);
        smooth(n, w, v, u);
    }
    double first = sum((n + 2) * w, u);

    double (*x)[w] = malloc(sizeof(double[n + 2][w]));
    double (*y)[w] = malloc(sizeof(double[n + 2][w]));
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < w; j++)
            x[i][j] = y[i][j] = 0.3 * rank + 0.1 * i * j;
    for (int s = 0; s < 4; s++) {
        post(n, w, x[0]);
        relax(n, w, x, y);
        lines(n, w, y);
        smooth(n, w, &y[0][0], &x[0][0]);
    }
    double second = sum((n + 2) * w, x[0]);
    if (rank == 0)
        printf("%.15g %.15g\n", first, second);
    free(u);
    free(v);
    free(x);
    free(y);
    MPI_Finalize();
    return 0;
}
