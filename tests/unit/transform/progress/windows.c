#include <mpi.h>
#define N 1000
static double a[N][N], b[N], c[N], d[4000000];
static void sweep(double *x)
{
    for (int k = 0; k < 500; k++)
        for (int i = 0; i < N; i++)
            x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Request r, q[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    MPI_Irecv(b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 4000000; i++)
        d[i] = 2.0 * d[i];
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(c, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = 2.0 * a[i][j];
    sweep(a[0]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
