/* Objects whose fields point to the rows of arrays, of sizes that their fields have. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rows, cols;
    double **now, **next;
    int above, below;
} field;

static double **make(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    a[0] = calloc((size_t)n * m, sizeof **a);
    for (int i = 1; i < n; i++)
        a[i] = a[0] + i * m;
    return a;
}

static void init(field *f, int rows, int cols, int rank, int size)
{
    f->rows = rows;
    f->cols = cols;
    f->now = make(rows + 2, cols + 2);
    f->next = make(rows + 2, cols + 2);
    f->above = rank == 0 ? MPI_PROC_NULL : rank - 1;
    f->below = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    for (int i = 0; i < rows + 2; i++)
        for (int j = 0; j < cols + 2; j++)
            f->now[i][j] = f->next[i][j] = (i * j + rank) % 7;
}

static void destroy(field *f)
{
    free(f->now[0]);
    free(f->now);
    free(f->next[0]);
    free(f->next);
}

static void swap(field *f)
{
    double **t = f->now;
    f->now = f->next;
    f->next = t;
}

static void exchange(field *f)
{
    MPI_Request r[4];
    MPI_Irecv(f->now[0], f->cols + 2, MPI_DOUBLE, f->above, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(f->now[f->rows + 1], f->cols + 2, MPI_DOUBLE, f->below, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(f->now[1], f->cols + 2, MPI_DOUBLE, f->above, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(f->now[f->rows], f->cols + 2, MPI_DOUBLE, f->below, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void step(field *f, double k)
{
    double **u = f->now, **v = f->next;
    for (int i = 1; i <= f->rows; i++)
        for (int j = 1; j <= f->cols; j++)
            v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
}

static void relax(double **u, double **v, int n, int m)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

int main(int argc, char **argv)
{
    int rank, size;
    field fine, coarse;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    init(&fine, 24, 20, rank, size);
    init(&coarse, 12, 10, rank, size);
    for (int it = 0; it < 10; it++) {
        exchange(&fine);
        step(&fine, 0.1);
        swap(&fine);
        MPI_Sendrecv(coarse.now[1], coarse.cols + 2, MPI_DOUBLE, coarse.above, 2,
                     coarse.now[coarse.rows + 1], coarse.cols + 2, MPI_DOUBLE, coarse.below, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        relax(coarse.now, coarse.next, coarse.rows, coarse.cols);
        swap(&coarse);
    }
    double s = 0;
    for (int i = 1; i <= fine.rows; i++)
        for (int j = 1; j <= fine.cols; j++)
            s += fine.now[i][j] * i;
    for (int i = 1; i <= coarse.rows; i++)
        for (int j = 1; j <= coarse.cols; j++)
            s += coarse.now[i][j] * j;
    printf("%d %.12g\n", rank, s);
    destroy(&fine);
    destroy(&coarse);
    MPI_Finalize();
    return 0;
}
