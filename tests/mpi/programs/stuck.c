// Programs that never come to their end, each in its own way: what the argument names.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 1, LARGE = 4000000 };

static int rank, ranks;
static char *sent, *received;

/* From here on a rank is stuck: the test may end it. */
static void tell(void)
{
    printf("process %d\n", getpid());
    fflush(stdout);
}

static void sends(void)
{
    int peer = 1 - rank;
    MPI_Send(sent, SMALL, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(received, SMALL, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell();
    MPI_Send(sent, LARGE, MPI_CHAR, peer, 0, MPI_COMM_WORLD); // both: deadlock
    MPI_Recv(received, LARGE, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void allreduce(void)
{
    int one = 1, sum;
    MPI_Barrier(MPI_COMM_WORLD); // the last call of the rank that computes
    tell();
    if (rank == ranks - 1)
        for (;;)
            usleep(10000);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // the other waits
}

static void aborts(void)
{
    if (rank == 1) {
        MPI_Barrier(MPI_COMM_SELF);
        usleep(500000);
        MPI_Abort(MPI_COMM_WORLD, 7); // gives up
    }
    MPI_Recv(received, SMALL, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // is left waiting
}

static void finalize(void)
{
    tell();
    if (rank == 1)
        MPI_Recv(received, SMALL, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // for nothing
}

static void any(void)
{
    MPI_Status status;
    int any_one = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
    tell();
    MPI_Recv(received, SMALL, MPI_CHAR, any_one, tag, MPI_COMM_WORLD, &status); // of whomever
}

static void requests(int count)
{
    MPI_Request request[2];
    for (int i = 0; i < count; i++)
        MPI_Irecv(received + i, SMALL, MPI_CHAR, 1 - rank, 3, MPI_COMM_WORLD, &request[i]);
    tell();
    if (count == 1)
        MPI_Wait(request, MPI_STATUS_IGNORE); // one request
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE); // two requests
}

static void itself(void)
{
    tell();
    MPI_Ssend(sent, SMALL, MPI_CHAR, rank, 3, MPI_COMM_WORLD); // to itself
}

static void broadcast(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    tell();
    if (rank == 2)
        MPI_Recv(received, SMALL, MPI_CHAR, 3, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank % 2 == 0)
        MPI_Bcast(received, SMALL, MPI_CHAR, 1, half);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sent = calloc(LARGE, 1);
    received = calloc(LARGE, 1);
    const char *how = argc > 1 ? argv[1] : "";
    if (ranks == 2)
        nice(10); // they poll while they are stuck: who computes meanwhile goes first
    if (!strcmp(how, "sends"))
        sends();
    if (!strcmp(how, "allreduce"))
        allreduce();
    if (!strcmp(how, "aborts"))
        aborts();
    if (!strcmp(how, "finalize"))
        finalize();
    if (!strcmp(how, "any"))
        any();
    if (!strcmp(how, "wait"))
        requests(1);
    if (!strcmp(how, "waitall"))
        requests(2);
    if (!strcmp(how, "itself"))
        itself();
    if (!strcmp(how, "broadcast"))
        broadcast();
    MPI_Finalize(); // the last call
    return 0;
}
