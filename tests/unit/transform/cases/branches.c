/* The sum is wanted in a branch only: the wait goes into it, and behind the rest of the iteration. */
#include <mpi.h>
#include <stdio.h>

#define N 1000
static double u[N], v[N];

static void advance(double *x)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * (x[i] + x[i - 1]) + 1.0;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 20; step++) {
        int above = 0, all = 0;
        advance(u);
        for (int i = 0; i < N; i++)
            above += u[i] > 1.5 + rank;
        MPI_Allreduce(&above, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (step % 5 == 0) {
            advance(v);
            v[0] = all;
        }
        advance(v);
        advance(v);
    }
    printf("%d %.17g %.17g\n", rank, u[N - 1], v[N - 1]);
    MPI_Finalize();
    return 0;
}
