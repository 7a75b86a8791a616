/* Messages in any order: an array of requests that several loops fill. */
#include <mpi.h>
#include <stdio.h>

#define N 1000
#define K 4
static double u[N], v[N], in[K][N], out[K][N];
static MPI_Request reqs[2 * K];
static int nreq;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < 2 * K; i++)
        reqs[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++)
            out[k][i] = i + k + rank;
    for (int step = 0; step < 3; step++) {
        nreq = 0;
        work(v);
        for (int k = 0; k < K; k++)
            MPI_Irecv(in[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &reqs[nreq++]);
        for (int k = 0; k < K; k++)
            MPI_Isend(out[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &reqs[nreq++]);
        for (int k = 0; k < K; k++) {
            int which;
            MPI_Status status;
            MPI_Waitany(K, reqs, &which, &status);
            for (int i = 0; i < N; i++)
                u[i] += in[which][i];
        }
        MPI_Waitall(K, reqs + K, MPI_STATUSES_IGNORE);
        work(v);
        work(out[0]);
    }
    printf("%g %g\n", u[3], v[3]);
    MPI_Finalize();
    return 0;
}
