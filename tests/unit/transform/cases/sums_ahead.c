/* A step in the style of conjugate gradients, in whole numbers: what the sum over all ranks is made
 * of, two loops and a call, goes in front of the update of x. */
#include <mpi.h>
#include <stdio.h>

#define N 500
static int x[N], p[N], r[N], q[N];

static void apply(const int *from, int *to, int step)
{
    for (int i = 0; i < N; i++)
        to[i] = from[i] + step;
}

int main(int argc, char **argv)
{
    int rank, size, own, norm = 1, alpha = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        p[i] = (7 * i + rank) % 11;
        r[i] = (3 * i + rank) % 13;
    }
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < N; i++)
            x[i] += alpha * p[i];
        apply(p, q, step);
        for (int i = 0; i < N; i++)
            r[i] = (r[i] - q[i]) % 17;
        own = 0;
        for (int i = 0; i < N; i++)
            own += r[i] * r[i];
        MPI_Allreduce(&own, &norm, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        alpha = norm % 5;
        for (int i = 0; i < N; i++)
            p[i] = (r[i] + norm % 3 * p[i]) % 101;
    }
    own = 0;
    for (int i = 0; i < N; i++)
        own += x[i];
    for (int i = 0; i < size; i++) {
        if (i == rank)
            printf("%d %d %d\n", rank, own, norm);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
