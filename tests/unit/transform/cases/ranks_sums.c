/* Sums over all ranks in routines of their own: a function with a value, and one without. */
#include <mpi.h>
#include <stdio.h>
#define N 4000
static long u[N], v[N], w[N];

static long total(const long *a, int n)
{
    long own = 0, all;
    for (int i = 0; i < n; i++)
        own += a[i] % 1000;
    MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void step(long *a, long factor, const long *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = (a[i] + factor * b[i]) % 10007;
}

/* Its sums may match those of total; its own broadcast may not. */
static long mean(const long *a, int n)
{
    long own[2] = {0, n}, all[2];
    for (int i = 0; i < n; i++)
        own[0] += a[i] % 1000;
    MPI_Allreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(all, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    return all[0] / all[1];
}

int main(int argc, char **argv)
{
    int rank;
    long first = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = v[i] = w[i] = (i * 7 + rank * 5) % 32;
    for (int k = 0; k < 20; k++) {
        long all = total(v, N);
        long factor = all % 7 + first;
        step(w, factor, v, N);
        step(u, -factor, v, N);
        long next = total(u, N);
        first = next % 5 + 1;
        step(v, first, u, N);
    }
    long last = mean(w, N) + 1;
    if (total(w, N) > last) {
        last += total(u, N) - total(v, N);
    }
    printf("%d %ld %ld\n", rank, first, last);
    MPI_Finalize();
    return 0;
}
