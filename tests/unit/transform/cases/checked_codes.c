#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 48
static double *u, *v, *f;
static int rows, up, down;

/* What the last call returns is what the function returns. */
static int exchange(double *a, int n, MPI_Comm comm)
{
    MPI_Request r[4];
    MPI_Irecv(a, n, MPI_DOUBLE, up, 7, comm, &r[0]);
    MPI_Irecv(a + (rows + 1) * n, n, MPI_DOUBLE, down, 7, comm, &r[1]);
    MPI_Isend(a + n, n, MPI_DOUBLE, up, 7, comm, &r[2]);
    MPI_Isend(a + rows * n, n, MPI_DOUBLE, down, 7, comm, &r[3]);
    return MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void sweep(double *to, const double *from)
{
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < N - 1; j++)
            to[i * N + j] = 0.25 * (from[(i - 1) * N + j] + from[(i + 1) * N + j] +
                                    from[i * N + j - 1] + from[i * N + j + 1] - f[i * N + j]);
}

/* A condition asks for the code, and its branch leaves. */
static int step(double *to, double *from)
{
    if (exchange(from, N, MPI_COMM_WORLD) != MPI_SUCCESS)
        return -1;
    sweep(to, from);
    return 0;
}

/* A variable takes it. */
static void relax(void)
{
    int err = exchange(u, N, MPI_COMM_WORLD);
    if (err != MPI_SUCCESS) {
        fprintf(stderr, "no exchange: %d\n", err);
        MPI_Abort(MPI_COMM_WORLD, err);
    }
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < N - 1; j++)
            v[i * N + j] = 0.5 * (u[(i - 1) * N + j] + u[(i + 1) * N + j]);
}

/* This one fails, where there is one row only: what asks for that must stay. */
static int shift(double *a)
{
    if (rows < 2)
        return 1;
    MPI_Sendrecv(a + N, N, MPI_DOUBLE, up, 8, a + (rows + 1) * N, N, MPI_DOUBLE, down, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rows = N / size;
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    u = calloc((size_t)(rows + 2) * N, sizeof(double));
    v = calloc((size_t)(rows + 2) * N, sizeof(double));
    f = calloc((size_t)(rows + 2) * N, sizeof(double));
    for (int i = 0; i < (rows + 2) * N; i++)
        f[i] = 0.001 * ((i + rank * rows * N) % 13);
    for (int t = 0; t < 6; t++) {
        if (step(v, u) < 0) {
            fprintf(stderr, "step %d failed\n", t);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (shift(v))
            v[0] += 1.0;
        sweep(u, v);
        relax();
        for (int i = N; i < (rows + 1) * N; i++)
            u[i] = v[i];
    }
    double sum = 0.0, all;
    for (int i = N; i < (rows + 1) * N; i++)
        sum += u[i] * (i % 7);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12e\n", all);
    free(u);
    free(v);
    free(f);
    MPI_Finalize();
    return 0;
}
