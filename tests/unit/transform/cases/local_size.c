#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Sizes and neighbours in small arrays of the file. */
static int n[2], peer[2];
static double *u, *w;

#define AT(i, j) ((size_t)(j) * (n[0] + 2) + (i))

static void create(int rank, int ranks)
{
    int dims[1] = {0};
    MPI_Dims_create(ranks, 1, dims);
    n[0] = 64;
    n[1] = 48 / dims[0];
    peer[0] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    peer[1] = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    size_t length = (size_t)(n[0] + 2) * (n[1] + 2);
    u = malloc(length * sizeof(double));
    w = malloc(length * sizeof(double));
    for (size_t i = 0; i < length; i++) {
        u[i] = sin(0.1 * (double)i) + rank;
        w[i] = 0;
    }
}

static void exchange(void)
{
    MPI_Sendrecv(&u[AT(1, n[1])], n[0], MPI_DOUBLE, peer[1], 1, &u[AT(1, 0)], n[0], MPI_DOUBLE,
                 peer[0], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[AT(1, 1)], n[0], MPI_DOUBLE, peer[0], 2, &u[AT(1, n[1] + 1)], n[0], MPI_DOUBLE,
                 peer[1], 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sweep(void)
{
    for (int j = 1; j <= n[1]; j++)
        for (int i = 1; i <= n[0]; i++)
            w[AT(i, j)] = 0.25 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] +
                                  u[AT(i, j + 1)]);
}

static void update(void)
{
    for (int j = 1; j <= n[1]; j++)
        for (int i = 1; i <= n[0]; i++)
            u[AT(i, j)] = w[AT(i, j)];
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    create(rank, ranks);
    for (int step = 0; step < 10; step++) {
        exchange();
        sweep();
        update();
    }
    double sum = 0, total;
    for (int j = 1; j <= n[1]; j++)
        for (int i = 1; i <= n[0]; i++)
            sum += u[AT(i, j)];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12e\n", total);
    free(u);
    free(w);
    MPI_Finalize();
    return 0;
}
