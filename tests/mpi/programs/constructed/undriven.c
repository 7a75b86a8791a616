/* A rendezvous that nobody drives: rank 0 begins to send and then works for 100 ms without a call
 * to MPI, while rank 1 has nothing to do but wait for the message. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "pause.h"

enum { BYTES = 4 << 20 };

int main(int argc, char **argv)
{
    int rank;
    char *data = malloc(BYTES);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(data, rank, BYTES);
    for (int step = 0; step < 10; step++) {
        if (rank == 0) {
            MPI_Isend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
            pause_ms(100);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 1)
            MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return data[BYTES - 1];
}
