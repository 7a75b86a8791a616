/* Messages of two ranks whose sizes and times the test knows. */
#include <mpi.h>
#include <unistd.h>

enum { ROOM = 200000 };

static char out[ROOM], in[ROOM];

int main(int argc, char **argv)
{
    int rank, flag, done = 0;
    MPI_Request request;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank;

    /* The message comes early, at a poll; it is waited for late. */
    MPI_Irecv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, 100000, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    while (!done) {
        PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        MPI_Iprobe(other, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    usleep(300000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    if (rank == 0) {
        MPI_Request send;
        MPI_Isend(out, 30000, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, ROOM, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    MPI_Irecv(in, ROOM, MPI_BYTE, other, 98, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, 5000, MPI_BYTE, other, 3, copy, &request);
        MPI_Send(out, 5000, MPI_BYTE, other, 3, copy);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&copy);

    MPI_Bcast(out, 40000, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
