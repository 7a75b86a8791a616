/* Two fields are transposed one after the other: each transpose may run while the other field is
 * computed on. The counts are summed as integers; the norm must not be summed in another order. */
#include <mpi.h>
#include <stdio.h>
#define N 4096

static double u[N], v[N], sent_u[N], sent_v[N], got_u[N], got_v[N];
static int size;

static void smooth(double *x)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * (x[i] + x[i - 1]);
}

static void step(void)
{
    smooth(u);
    for (int i = 0; i < N; i++)
        sent_u[i] = u[i];
    MPI_Alltoall(sent_u, N / size, MPI_DOUBLE, got_u, N / size, MPI_DOUBLE, MPI_COMM_WORLD);
    smooth(v);
    for (int i = 0; i < N; i++)
        sent_v[i] = v[i];
    MPI_Alltoall(sent_v, N / size, MPI_DOUBLE, got_v, N / size, MPI_DOUBLE, MPI_COMM_WORLD);
    smooth(got_u);
    smooth(got_v);
}

int main(int argc, char **argv)
{
    int rank, small = 0, all_small;
    double square = 0.0, norm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = v[i] = rank + i;
    for (int k = 0; k < 10; k++)
        step();
    for (int i = 0; i < N; i++)
        small += got_u[i] < 1.0;
    MPI_Reduce(&small, &all_small, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        square += got_v[i] * got_v[i];
    MPI_Allreduce(&square, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %g\n", all_small, norm);
    MPI_Finalize();
    return 0;
}
