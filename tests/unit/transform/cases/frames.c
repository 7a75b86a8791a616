#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define W 200
#define H 120
static double frame[W * H], kernel[9], sums[64];
static void make(double *f, int number)
{
    for (int i = 0; i < W * H; i++)
        f[i] = (i * 7 + number * 13) % 101;
}
static double filtered(const double *f, int first, int last)
{
    double sum = 0;
    for (int y = first > 1 ? first : 1; y < last && y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            for (int d = 0; d < 9; d++)
                sum += kernel[d] * f[(y + d / 3 - 1) * W + x + d % 3 - 1];
    return sum;
}
int main(int argc, char **argv)
{
    int rank, size, frames = argc > 1 ? atoi(argv[1]) : 12;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int d = 0; d < 9; d++)
            kernel[d] = d - 4;
    MPI_Bcast(kernel, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&frames, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int rows = H / size, first = rank * rows, last = rank == size - 1 ? H : first + rows;
    for (int t = 0; t < frames; t++) {
        if (rank == 0)
            make(frame, t);
        MPI_Bcast(frame, W * H, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        sums[t % 64] = filtered(frame, first, last);
    }
    double sum = 0, total;
    for (int t = 0; t < 64; t++)
        sum += sums[t];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f %.1f\n", total, frame[5]);
    MPI_Finalize();
    return 0;
}
