/* Two ranks in every way in which a message, a collective or an epoch can come to pass. */
#include <mpi.h>
#include <stdlib.h>

enum { LARGE = 1 << 18 };

static int rank, other;
static char *out, *in;

static void blocking(void)
{
    MPI_Sendrecv(out, 100, MPI_BYTE, other, 1, in, 100, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(out, LARGE, MPI_BYTE, other, 2, MPI_COMM_WORLD);
    else
        MPI_Recv(in, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 8, MPI_BYTE, MPI_PROC_NULL, 1, in, 8, MPI_BYTE, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to_oneself(void)
{
    MPI_Request requests[2];
    MPI_Irecv(in, LARGE, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, LARGE, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void as_they_come(void)
{
    MPI_Request requests[4];
    int index, count, done[4], left = 4;
    for (int k = 0; k < 2; k++) {
        MPI_Irecv(in + 64 * k, 64, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &requests[k]);
        MPI_Isend(out, 64, MPI_BYTE, other, 4, MPI_COMM_WORLD, &requests[2 + k]);
    }
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    for (left--; left > 0;) {
        MPI_Testsome(4, requests, &count, done, MPI_STATUSES_IGNORE);
        left -= count == MPI_UNDEFINED ? left : count;
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, 64, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 64, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[1]);
    for (int k = 0; k < 3; k++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probed(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(out, LARGE, MPI_BYTE, other, 6, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
    MPI_Recv(in, LARGE, MPI_BYTE, status.MPI_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(void)
{
    MPI_Comm own, bridge;
    MPI_Request request;
    double one = 1, sum;
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Bcast(out, 1000, MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Scan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Barrier(own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, other, 7, &bridge);
    MPI_Sendrecv(out, 9, MPI_BYTE, 0, 8, in, 9, MPI_BYTE, 0, 8, bridge, MPI_STATUS_IGNORE);
    MPI_Barrier(bridge);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&own);
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Win_create(in, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 1000, MPI_BYTE, other, 0, 1000, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
    MPI_Get(out, 1000, MPI_BYTE, other, 0, 1000, MPI_BYTE, window);
    MPI_Win_unlock(other, window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    out = calloc(1, LARGE);
    in = calloc(1, LARGE);
    blocking();
    to_oneself();
    as_they_come();
    persistent();
    probed();
    collective();
    one_sided();
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
