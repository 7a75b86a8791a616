/* Cannon's algorithm: blocks of a go left and those of b go up while others are multiplied. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

static void multiply(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double x = a[i * n + k];
            for (int j = 0; j < n; j++)
                c[i * n + j] += x * b[k * n + j];
        }
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int q = (int)sqrt((double)size + 0.5);
    int dims[2] = {q, q}, periods[2] = {1, 1}, coords[2];
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    if (grid == MPI_COMM_NULL) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n);
    double *c = calloc(n * n, sizeof(double));
    for (int i = 0; i < n * n; i++) {
        a[i] = (rank * 7 + i) % 13;
        b[i] = (rank * 3 + i) % 11;
    }
    int left, right, up, down, src, dst;
    MPI_Status st;
    MPI_Cart_shift(grid, 1, -1, &right, &left);
    MPI_Cart_shift(grid, 0, -1, &down, &up);
    MPI_Cart_shift(grid, 1, -coords[0], &src, &dst);
    MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, dst, 1, src, 1, grid, &st);
    MPI_Cart_shift(grid, 0, -coords[1], &src, &dst);
    MPI_Sendrecv_replace(b, n * n, MPI_DOUBLE, dst, 1, src, 1, grid, &st);
    for (int k = 0; k < q; k++) {
        multiply(n, a, b, c);
        MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, left, 1, right, 1, grid, &st);
        MPI_Sendrecv_replace(b, n * n, MPI_DOUBLE, up, 1, down, 1, grid, &st);
    }
    double s = 0, t;
    for (int i = 0; i < n * n; i++)
        s += c[i] * (i % 5);
    MPI_Reduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("checksum %.6e\n", t);
    MPI_Finalize();
    return 0;
}
