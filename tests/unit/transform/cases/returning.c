#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 32
typedef struct {
    int n, up, down;
    double *u, *v;
} field;
static double a[N + 2][N], b[N + 2][N];
static int up, down, size;

/* The number of ranks is asked for in the routine itself. */
static void halo(double *u, int n)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1)
        return;
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 1, &u[n + 1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, down, 2, &u[0], 1, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* A declaration that needs the answer. */
static void exchange(field *f)
{
    if (f == NULL) {
        return;
    }
    double *u = f->u;
    int n = f->n;
    if (n < 1)
        return;
    double *top = &u[n];
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, f->up, 3, &u[n + 1], 1, MPI_DOUBLE, f->down, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(top, 1, MPI_DOUBLE, f->down, 4, &u[0], 1, MPI_DOUBLE, f->up, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* It returns a code, the same at each place. */
static int rows(double x[N + 2][N])
{
    if (size < 2)
        return 0;
    MPI_Sendrecv(x[1], N, MPI_DOUBLE, up, 5, x[N + 1], N, MPI_DOUBLE, down, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(x[N], N, MPI_DOUBLE, down, 6, x[0], N, MPI_DOUBLE, up, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return 0;
}

static void relax(const double *u, double *v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
}

static void sweep(double x[N + 2][N], double y[N + 2][N])
{
    for (int i = 1; i <= N; i++)
        for (int j = 0; j < N; j++)
            y[i][j] = 0.5 * x[i][j] + 0.25 * (x[i - 1][j] + x[i + 1][j]);
}

int main(int argc, char **argv)
{
    int rank, n = 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *p = calloc(n + 2, sizeof(double)), *q = calloc(n + 2, sizeof(double));
    field f = {n, up, down, calloc(n + 2, sizeof(double)), calloc(n + 2, sizeof(double))};
    for (int i = 0; i < n + 2; i++)
        p[i] = f.u[i] = (i * 3 + rank) % 7;
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i + j * rank) % 5;
    for (int step = 0; step < 10; step++) {
        halo(p, n);
        relax(p, q, n);
        halo(q, n);
        relax(q, p, n);
        exchange(&f);
        relax(f.u, f.v, n);
        for (int i = 1; i <= n; i++)
            f.u[i] = f.v[i];
        rows(a);
        sweep(a, b);
        for (int i = 1; i <= N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = b[i][j];
    }
    double sum = 0;
    for (int i = 0; i < n + 2; i++)
        sum += p[i] * i + f.u[i] * (i % 3);
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N; j++)
            sum += a[i][j] * (i % 5);
    printf("%d %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
