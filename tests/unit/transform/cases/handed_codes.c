#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 48
static double *u, *v;
static int rows, up, down;

/* It fails where MPI does, which never comes back. */
static int exchange(double *a)
{
    MPI_Request r[4];
    MPI_Irecv(a, N, MPI_DOUBLE, up, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(a + (rows + 1) * N, N, MPI_DOUBLE, down, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(a + N, N, MPI_DOUBLE, up, 7, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(a + rows * N, N, MPI_DOUBLE, down, 7, MPI_COMM_WORLD, &r[3]);
    if (MPI_Waitall(4, r, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return -1;
    return 0;
}

/* It keeps the code. */
static int update(double *a)
{
    int err = exchange(a);
    if (err != 0)
        return err;
    return MPI_SUCCESS;
}

/* It hands the code on. */
static int refresh(double *a)
{
    return update(a);
}

static void sweep(double *to, const double *from)
{
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < N - 1; j++)
            to[i * N + j] = 0.25 * (from[(i - 1) * N + j] + from[(i + 1) * N + j] +
                                    from[i * N + j - 1] + from[i * N + j + 1]);
}

/* This one also fails where there is one row: who calls it asks for that. */
static int shift(double *a)
{
    if (rows < 2)
        return 1;
    return exchange(a);
}

int main(int argc, char **argv)
{
    int rank, size, err, alone = 0;
    double sum = 0, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rows = argc > 1 ? atoi(argv[1]) : 12;
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    u = malloc((rows + 2) * N * sizeof(double));
    v = malloc((rows + 2) * N * sizeof(double));
    for (int i = 0; i < (rows + 2) * N; i++)
        u[i] = v[i] = sin(0.1 * i + rank);
    for (int step = 0; step < 10; step++) {
        if ((err = refresh(u)) != MPI_SUCCESS) {
            fprintf(stderr, "step %d: %d\n", step, err);
            MPI_Abort(MPI_COMM_WORLD, err);
        }
        sweep(v, u);
        if (shift(v) != 0)
            alone++;
        sweep(u, v);
    }
    for (int i = N; i < (rows + 1) * N; i++)
        sum += u[i] * (i % 5);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.10g %d\n", total, alone);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
