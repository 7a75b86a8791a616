/* The C library's copies into and out of buffers in flight. */
#define _GNU_SOURCE
#include <mpi.h>
#include <string.h>
#include <strings.h>

static char out[4096], in[4096], other[4096];
static volatile int length = 40, result;

#define WHILE_IN_FLIGHT(tag, access)                                                               \
    do {                                                                                           \
        MPI_Request q[2];                                                                          \
        MPI_Irecv(in, 4096, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, &q[0]);                       \
        MPI_Isend(out, 4096, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, &q[1]);                      \
        access;                                                                                    \
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);                                                    \
    } while (0)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(other, 'a', 50);
    WHILE_IN_FLIGHT(1, memcpy(out + 3, other, length));  /* access write send */
    WHILE_IN_FLIGHT(2, bzero(out + 3, length));          /* access write send */
    WHILE_IN_FLIGHT(3, bcopy(other, out, length));       /* access write send */
    WHILE_IN_FLIGHT(4, strcpy(out + 3, other));          /* access write send */
    WHILE_IN_FLIGHT(5, strncpy(out + 3, other, length)); /* access write send */
    WHILE_IN_FLIGHT(6, mempcpy(out, other, length));     /* access write send */
    WHILE_IN_FLIGHT(7, stpcpy(out + 1, other));          /* access write send */
    WHILE_IN_FLIGHT(8, strcat(out, "x"));                /* access write send */
    WHILE_IN_FLIGHT(9, result = memcmp(in, other, length)); /* access read receive */
    WHILE_IN_FLIGHT(10, result = memcmp(out, other, length));
    WHILE_IN_FLIGHT(11, memcpy(other + 200, out, length));
    MPI_Finalize();
    return 0;
}
