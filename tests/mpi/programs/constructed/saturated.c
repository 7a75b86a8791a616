/* Each rank of the first half exchanges a message with one of the second at the same time: where
 * the halves are two hosts, one link for all. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "pause.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Request requests[2];
    char *out = malloc(BYTES), *in = malloc(BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(out, rank + 1, BYTES);
    int other = (rank + ranks / 2) % ranks;
    for (int step = 0; step < 5; step++) {
        pause_ms(20);
        MPI_Irecv(in, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return in[BYTES - 1] == other + 1 ? 0 : 1;
}
