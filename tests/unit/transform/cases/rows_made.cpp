// An array by pointers to its rows, each of which is `new` memory of its own.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <utility>

static double **allocate(int rows, int cols)
{
    double **a = new double *[rows];
    for (int i = 0; i < rows; ++i)
        a[i] = new double[cols];
    return a;
}

static void release(double **a, int rows)
{
    for (int i = 0; i < rows; ++i)
        delete[] a[i];
    delete[] a;
}

static void exchange(double **u, int n, int m, int up, int down)
{
    MPI_Sendrecv(u[1], m, MPI_DOUBLE, up, 1, u[n + 1], m, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[n], m, MPI_DOUBLE, down, 2, u[0], m, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void sweep(double **u, double **v, int n, int m)
{
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j < m - 1; ++j)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = argc > 1 ? std::atoi(argv[1]) : 12, m = argc > 2 ? std::atoi(argv[2]) : 9;
    double **u = allocate(n + 2, m), **v = allocate(n + 2, m);
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = v[i][j] = rank + 0.1 * i + 0.01 * j * j;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < 10; step++) {
        exchange(u, n, m, up, down);
        sweep(u, v, n, m);
        std::swap(u, v);
    }
    double s = 0, total;
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < m; j++)
            s += u[i][j] * (i + 3 * j);
    MPI_Reduce(&s, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%.15g\n", total);
    release(u, n + 2);
    release(v, n + 2);
    MPI_Finalize();
    return 0;
}
