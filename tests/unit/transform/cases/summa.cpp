#include <mpi.h>
#include <cstdio>
#include <vector>
#include <algorithm>
static void gemm(int n, const double *x, const double *y, double *z)
{
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++)
            for (int j = 0; j < n; j++)
                z[i * n + j] += x[i * n + l] * y[l * n + j];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, q = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((q + 1) * (q + 1) <= size)
        q++;
    int row = rank / q, col = rank % q;
    MPI_Comm rows, cols;
    MPI_Comm_split(MPI_COMM_WORLD, row, col, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, col, row, &cols);
    const int nb = 144 / q;
    std::vector<double> a(nb * nb), b(nb * nb), c(nb * nb), pa(nb * nb), pb(nb * nb);
    for (int i = 0; i < nb * nb; i++) {
        a[i] = (rank + i) % 7;
        b[i] = (rank * 3 + i) % 5;
    }
    for (int k = 0; k < q; ++k) {
        if (col == k)
            for (int i = 0; i < nb * nb; i++)
                pa[i] = a[i];
        if (row == k) {
            for (int i = 0; i < nb * nb; i++)
                pb[i] = b[i];
        }
        MPI_Bcast(pa.data(), nb * nb, MPI_DOUBLE, k, rows);
        MPI_Bcast(&pb[0], nb * nb, MPI_DOUBLE, k, cols);
        gemm(nb, pa.data(), pb.data(), c.data());
    }
    double sum = 0, total = 0;
    for (int i = 0; i < nb * nb; i++)
        sum += c[i] * (i % 11);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%.6f %.3f\n", total, pa[nb + 1] + pb[3]);
    MPI_Finalize();
    return 0;
}
