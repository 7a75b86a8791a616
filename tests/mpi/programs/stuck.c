// Programs that never come to their end, each in its own way: what the argument names.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 1, LARGE = 4000000 };

static int rank, ranks;
static char *sent, *received;

static void sends(void)
{
    int peer = 1 - rank;
    MPI_Send(sent, SMALL, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(received, SMALL, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("process %d\n", getpid());
    fflush(stdout);
    MPI_Send(sent, LARGE, MPI_CHAR, peer, 0, MPI_COMM_WORLD); // both: deadlock
    MPI_Recv(received, LARGE, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void allreduce(void)
{
    int one = 1, sum;
    MPI_Barrier(MPI_COMM_WORLD); // the last call of the rank that computes
    printf("process %d\n", getpid());
    fflush(stdout);
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
    printf("process %d\n", getpid());
    fflush(stdout);
    if (rank == 1)
        MPI_Recv(received, SMALL, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // for nothing
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sent = calloc(LARGE, 1);
    received = calloc(LARGE, 1);
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "sends"))
        sends();
    if (!strcmp(how, "allreduce"))
        allreduce();
    if (!strcmp(how, "aborts"))
        aborts();
    if (!strcmp(how, "finalize"))
        finalize();
    MPI_Finalize(); // the last call
    return 0;
}
