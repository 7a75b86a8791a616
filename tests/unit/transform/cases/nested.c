/* A routine around a routine around MPI: both are split, and both exchanges are under way while the
 * caller computes. */
#include <mpi.h>
#include <stdio.h>

#define N 1500
static double u[N + 2], v[N + 2], w[N + 2];

static void shift(double *field, int to, int from, int tag)
{
    MPI_Sendrecv(&field[1], 1, MPI_DOUBLE, to, tag, &field[N + 1], 1, MPI_DOUBLE, from, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(double *first, double *second, int left, int right)
{
    shift(first, left, right, 1);
    shift(second, left, right, 2);
    second[0] = second[N + 1];
}

static void advance(double *x)
{
    for (int i = 1; i <= N; i++)
        x[i] = 0.5 * (x[i] + x[i - 1]) + 1.0;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i <= N; i++)
        u[i] = v[i] = i + rank;
    for (int step = 0; step < 5; step++) {
        exchange(u, v, (rank + size - 1) % size, (rank + 1) % size);
        advance(w);
        for (int i = 1; i <= N; i++)
            u[i] = 0.5 * (u[i + 1] + v[i + 1]) + w[i] + v[0];
    }
    for (int i = 1; i <= N; i++)
        sum += u[i] + v[i] + w[i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
