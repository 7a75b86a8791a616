/* One routine for both halves of an exchange, as a flag says; error codes that are checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000
enum phase { START, FINISH };
static double u[N], v[N], total, part;
static MPI_Request requests[2];

static void exchange(double *x, int peer, int phase)
{
    if (phase == START) {
        MPI_Irecv(&x[N - 1], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&x[1], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    } else {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void relax(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}

int main(int argc, char **argv)
{
    int rank, ierr, peer;
    MPI_Init(&argc, &argv);
    ierr = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = v[i] = i + rank;
    for (int step = 0; step < 5; step++) {
        exchange(u, peer, START);
        exchange(u, peer, FINISH);
        relax(v);
        relax(u);
        part = u[3];
        ierr = MPI_Sendrecv(&part, 1, MPI_DOUBLE, peer, 1, &total, 1, MPI_DOUBLE, peer, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (ierr != MPI_SUCCESS) {
            fprintf(stderr, "it failed\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        relax(v);
        u[4] += total;
    }
    printf("%g %g %g %g\n", u[3], u[4], u[N - 1], v[3]);
    MPI_Finalize();
    return 0;
}
