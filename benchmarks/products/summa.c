/* Product of matrices by blocks (SUMMA): in each step a block of a goes along its row of ranks, one
 * of b along its column, and both are multiplied. POINTS is the order of the matrices. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef POINTS
#define POINTS 1024
#endif

static void multiply(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
    int rank, size, q = 1;
    MPI_Comm rows, columns;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((q + 1) * (q + 1) <= size)
        q++;
    int row = rank / q, column = rank % q, n = POINTS / q;
    MPI_Comm_split(MPI_COMM_WORLD, row, column, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, column, row, &columns);
    double *a = malloc(n * n * sizeof(double)), *b = malloc(n * n * sizeof(double));
    double *panel_a = malloc(n * n * sizeof(double)), *panel_b = malloc(n * n * sizeof(double));
    double *c = calloc(n * n, sizeof(double));
    for (int i = 0; i < n * n; i++) {
        a[i] = (rank + i) % 7;
        b[i] = (3 * rank + i) % 5 - 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int k = 0; k < q; k++) {
        if (column == k)
            memcpy(panel_a, a, n * n * sizeof(double));
        if (row == k)
            memcpy(panel_b, b, n * n * sizeof(double));
        MPI_Bcast(panel_a, n * n, MPI_DOUBLE, k, rows);
        MPI_Bcast(panel_b, n * n, MPI_DOUBLE, k, columns);
        multiply(n, panel_a, panel_b, c);
    }
    double mine[2] = {MPI_Wtime() - begin, 0}, most[2];
    for (int i = 0; i < n * n; i++)
        mine[1] += c[i] * (i % 11);
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("time: %.6f s\nverification: %.6f\n", most[0], most[1]);
    free(a);
    free(b);
    free(c);
    free(panel_a);
    free(panel_b);
    MPI_Finalize();
    return 0;
}
