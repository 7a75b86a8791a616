/* Rank 1 posts its receive 100 ms after rank 0 began to send what does not fit into a buffer, or
 * with any argument a synchronous message. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "pause.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank;
    char *data = malloc(BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(data, rank, BYTES);
    for (int step = 0; step < 10; step++) {
        pause_ms(rank == 1 ? 120 : 20);
        if (rank == 0)
            (argc > 1 ? MPI_Ssend : MPI_Send)(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return data[BYTES - 1];
}
