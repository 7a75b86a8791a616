/* Blocks that go down an open chain of ranks: fewer numbers come than there is room for, or none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double x, y, m; } body;

static double weigh(int n, const double *a)
{
    double s = 0;
    for (int r = 0; r < 50; r++)
        for (int i = 0; i < n; i++)
            s += a[i] * r;
    return s;
}

static double lever(int n, const body *p)
{
    double s = 0;
    for (int r = 0; r < 50; r++)
        for (int i = 0; i < n; i++)
            s += p[i].m * (p[i].x + r * p[i].y);
    return s;
}

int main(int argc, char **argv)
{
    int rank, size;
    double f = 0, g = 0, mine[2], all[2];
    MPI_Datatype body_type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(3, MPI_DOUBLE, &body_type);
    MPI_Type_commit(&body_type);
    int n = 200 - 10 * rank;
    int to = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int from = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *a = malloc(sizeof(double) * n);
    body *p = malloc(sizeof(body) * n);
    for (int i = 0; i < n; i++) {
        a[i] = i + rank;
        p[i].x = i;
        p[i].y = rank;
        p[i].m = 1 + i % 3;
    }
    for (int k = 0; k < 3; k++) {
        f += weigh(n, a);
        MPI_Sendrecv_replace(a, n, MPI_DOUBLE, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < 3; k++) {
        g += lever(n, p);
        MPI_Sendrecv_replace(p, n, body_type, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    mine[0] = f + weigh(n, a);
    mine[1] = g + lever(n, p);
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.17g %.17g\n", all[0], all[1]);
    free(a);
    free(p);
    MPI_Type_free(&body_type);
    MPI_Finalize();
    return 0;
}
