/* Messages whose numbers and bytes are known, between all pairs of ranks and of each rank to
 * itself: peers all, and peers moved. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 3, ROOM = 5 << 20 };
static const int sizes[SIZES] = {100, 20000, 4 << 20};
static int rank, ranks;
static char *out, *in;

static void must(int true)
{
    if (!true)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* To the rank `step` further and from the rank `step` before, whom the receive does not name. */
static void shift(int bytes, int step)
{
    MPI_Request r[2];
    MPI_Status statuses[2];
    int count, from = (rank + ranks - step) % ranks;
    MPI_Irecv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, (rank + step) % ranks, step, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, statuses);
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    must(count == bytes && statuses[0].MPI_SOURCE == from && in[0] == from &&
         in[bytes - 1] == from);
}

static void send_to(int bytes, int peer)
{
    MPI_Send(out, bytes, MPI_BYTE, peer, 50, MPI_COMM_WORLD);
}

static void receive_from(int bytes, int peer)
{
    MPI_Recv(in, ROOM, MPI_BYTE, peer, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    must(in[bytes - 1] == peer);
}

static void cancel_one(void)
{
    MPI_Request r;
    MPI_Status status;
    int cancelled;
    MPI_Irecv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &cancelled);
    must(cancelled);
}

/* For each size and other rank: one Isend, Irecv, Send and Recv. */
static void all(void)
{
    for (int i = 0; i < SIZES; i++) {
        for (int step = 1; step < ranks; step++)
            shift(sizes[i], step);
        for (int peer = 0; peer < ranks; peer++) {
            if (rank < peer)
                send_to(sizes[i], peer);
            if (rank != peer)
                receive_from(sizes[i], peer);
            if (rank > peer)
                send_to(sizes[i], peer);
        }
        MPI_Sendrecv(out, sizes[i], MPI_BYTE, rank, 60, in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 60,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        must(in[0] == rank);
        cancel_one();
    }
}

/* Four messages of 1 MB each way that have moved before the work begins: messages of a byte go to
 * and fro meanwhile, which makes progress on both sides. */
static void moved(void)
{
    char byte[2];
    struct timespec a, b;
    for (int i = 0; i < 4; i++) {
        MPI_Request r[2];
        MPI_Irecv(in, 1 << 20, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, 1 << 20, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[1]);
        for (int k = 0; k < 300; k++)
            MPI_Sendrecv(byte, 1, MPI_BYTE, !rank, 2, byte + 1, 1, MPI_BYTE, !rank, 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        clock_gettime(CLOCK_MONOTONIC, &a);
        do
            clock_gettime(CLOCK_MONOTONIC, &b);
        while ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < 20000000);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = malloc(ROOM);
    in = malloc(ROOM);
    memset(out, rank, ROOM);
    if (argc > 1 && !strcmp(argv[1], "moved"))
        moved();
    else
        all();
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
