/* Calls of routines around messages that an `if` guards, for one rank or for now and then. */
#include <mpi.h>
#include <stdio.h>
#define N 500
static double u[N + 2], v[N + 2], w[N + 2], spent, total;
static int rank, size, up, down;

static void exchange(double *a)
{
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 1, &a[N + 1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&a[N], 1, MPI_DOUBLE, down, 2, &a[0], 1, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Periodic in one dimension: a rank alone copies. */
static void wrap(double *a)
{
    if (size == 1) {
        a[0] = a[N];
        a[N + 1] = a[1];
        return;
    }
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 3, &a[N + 1], 1, MPI_DOUBLE, down, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&a[N], 1, MPI_DOUBLE, down, 4, &a[0], 1, MPI_DOUBLE, up, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void decay(double *a, double factor)
{
    for (int i = 1; i <= N; i++)
        a[i] = factor * a[i] + 0.125;
}

static void smooth(const double *a, double *b)
{
    for (int i = 1; i <= N; i++)
        b[i] = 0.25 * (a[i - 1] + a[i + 1]) + 0.5 * b[i];
}

int main(int argc, char **argv)
{
    int first = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) % size;
    down = (rank + size - 1) % size;
    for (int i = 0; i < N + 2; i++)
        u[i] = v[i] = i + rank;
    for (int step = 0; step < 20; step++) {
        if (size > 1)
            exchange(u);
        decay(w, 0.5);
        smooth(u, v);
        if (step % 4 == 0) exchange(v); /* now and then */
        wrap(u);
        decay(w, 0.25);
        smooth(v, u);
        if (size > 1) {
            double begin = MPI_Wtime();
            exchange(w);
            spent += MPI_Wtime() - begin;
            exchange(v);
        } else {
            w[0] = w[N];
        }
        decay(u, 0.75);
        smooth(w, v);
        if (size == 1) {
            u[0] = u[N];
        } else
            exchange(u);
        decay(w, 0.5);
        smooth(u, v);
        for (int k = 0; k < 2; k++)
            exchange(v);
        if (first) {
            first = 0;
            w[1] = 0.5;
        } else
            wrap(w);
        total += u[N / 2] + v[1] + w[N + 1];
    }
    printf("%d %.10e %.10e %d\n", rank, total, u[3] + v[N], spent >= 0.0);
    MPI_Finalize();
    return 0;
}
