/* SUMMA: in each step a column of blocks of a and a row of blocks of b are sent around, then used;
   products of no blocks and of some, and of panels whose last one is narrower. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static void multiply(int n, int m, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * m + k] * b[k * n + j];
}

static double blocks(int steps, int n, int row, int col, MPI_Comm rows, MPI_Comm cols)
{
    double *a = malloc(n * n * sizeof(double)), *b = malloc(n * n * sizeof(double));
    double *c = calloc(n * n, sizeof(double)), sum = 0;
    double *pa = malloc(n * n * sizeof(double)), *pb = malloc(n * n * sizeof(double));
    for (int i = 0; i < n * n; i++) {
        a[i] = (row * 5 + col + i) % 7;
        b[i] = (row + col * 3 + i) % 5 - 2;
        pa[i] = pb[i] = 0.5;
    }
    for (int k = 0; k < steps; k++) {
        if (col == k)
            memcpy(pa, a, n * n * sizeof(double));
        if (row == k)
            memcpy(pb, b, n * n * sizeof(double));
        MPI_Bcast(pa, n * n, MPI_DOUBLE, k, rows);
        MPI_Bcast(pb, n * n, MPI_DOUBLE, k, cols);
        multiply(n, n, pa, pb, c);
    }
    for (int i = 0; i < n * n; i++)
        sum += c[i] * (i % 11) + pa[i] * (i % 3) + pb[i];
    free(a);
    free(b);
    free(c);
    free(pa);
    free(pb);
    return sum;
}

static double panels(int n, int width, int rank, int size)
{
    double *a = malloc(n * n * sizeof(double)), *b = malloc(n * n * sizeof(double));
    double *c = calloc(n * n, sizeof(double)), sum = 0;
    double *panel = malloc(n * width * sizeof(double));
    int first;
    for (int i = 0; i < n * n; i++) {
        a[i] = (rank + i) % 7;
        b[i] = (rank * 2 + i) % 5 - 2;
    }
    for (first = 0; first < n; first += width) {
        int wide = MIN(width, n - first);
        int root = (first / width) % size;
        if (rank == root)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < wide; j++)
                    panel[i * wide + j] = a[i * n + first + j];
        MPI_Bcast(panel, n * wide, MPI_DOUBLE, root, MPI_COMM_WORLD);
        multiply(n, wide, panel, b + first * n, c);
    }
    for (int i = 0; i < n * n; i++)
        sum += c[i] * (i % 11);
    free(a);
    free(b);
    free(c);
    free(panel);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, q = 1;
    MPI_Comm rows, cols;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((q + 1) * (q + 1) <= size)
        q++;
    int row = rank / q, col = rank % q;
    MPI_Comm_split(MPI_COMM_WORLD, row, col, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, row < q ? col : q, row, &cols);
    double sums[5] = {0, 0, 0, panels(30, 7, rank, size), panels(6, 20, rank, size)};
    if (row < q)
        for (int steps = 0; steps < 3; steps++)
            sums[steps] = blocks(MIN(steps, q), 24, row, col, rows, cols);
    double totals[5];
    MPI_Reduce(sums, totals, 5, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f %.6f %.6f %.6f %.6f\n", totals[0], totals[1], totals[2], totals[3], totals[4]);
    MPI_Finalize();
    return 0;
}
