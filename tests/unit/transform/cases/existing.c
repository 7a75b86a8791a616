/* Nonblocking calls that start late and wait early. */
#include <mpi.h>
#include <stdio.h>

#define N 4000
static double west[N], east[N], u[N], v[N], total[2], part[2];

static void relax(double *x)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * x[i] + 0.25 * x[i - 1];
}

int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Request requests[2], sum, report = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int step = 0; step < 10; step++) {
        relax(u);
        relax(v);
        MPI_Irecv(east, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(u, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        relax(v);
        for (int i = 0; i < N; i++)
            v[i] += 0.125 * u[i];
        relax(east);
        /* u is used anew. */
        u[0] = v[0];
        for (int i = 0; i < N; i++)
            part[i % 2] += v[i];
        relax(west);
        MPI_Iallreduce(part, total, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &sum);
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
        relax(u);
        v[1] = total[0];
        if (rank == 0) {
            MPI_Isend(west, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &report);
            MPI_Wait(&report, &status);
        }
        relax(v);
    }
    printf("%g %g\n", u[N - 1], v[N - 1]);
    MPI_Finalize();
    return 0;
}
