/* Wrappers whose messages are numbers: of their own, passed by value, in an object. */
#include <mpi.h>
#include <stdio.h>
#define N 4000
struct pair { double first, second; };
static double u[N], v[N], w[N];
static int peer;

/* Its numbers are the caller's until the finish. */
static double ends(const double *x)
{
    return x[0] + x[N - 1];
}
static void exchange(const double *x, double *got)
{
    double out, in = 0.0;
    out = 0.5 * ends(x);
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, peer, 0, &in, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    *got = 0.25 * in; /* of in, and not out */
}
static void average(const double *x, double *got)
{
    double out = 0.5, in, sum;
    out += x[1];
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, peer, 1, &in, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum = in + out;
    *got = 0.5 * sum;
}

/* These end with the start. */
static void by_value(double out, double *got)
{
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, peer, 2, got, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void in_object(double x, double *got)
{
    struct pair out = {x, 2.0 * x};
    MPI_Sendrecv(&out.second, 1, MPI_DOUBLE, peer, 3, got, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void relax(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 0.125;
}

int main(int argc, char **argv)
{
    int rank;
    double got[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = rank ^ 1;
    for (int i = 0; i < N; i++)
        u[i] = v[i] = w[i] = (i * 7 + rank * 5) % 32 / 32.0;
    for (int step = 0; step < 20; step++) {
        exchange(u, &got[0]);
        relax(v);
        average(v, &got[1]);
        relax(w);
        by_value(u[3], &got[2]);
        relax(v);
        in_object(u[4], &got[3]);
        relax(w);
        u[0] += got[0] + got[1] + got[2] + got[3] + 0.0625 * (v[2] + w[2]);
    }
    printf("%d %.17g\n", rank, u[0]);
    MPI_Finalize();
    return 0;
}
