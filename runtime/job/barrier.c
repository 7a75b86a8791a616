#include "job/barrier.h"

#ifdef IMBREX_SIMULATED

/* SMPI's MPI_Ibarrier lets a rank go once rank 0 has entered it, and takes two messages of one rank
 * for those of two. So the ranks tell each other, over distances that double. */
enum { TAG = 7100 };

static int next_round(ix_barrier *b)
{
    int rank = 0, size = 0;
    PMPI_Comm_rank(b->all, &rank);
    PMPI_Comm_size(b->all, &size);
    if (b->distance >= size)
        return 0;
    int to = (rank + b->distance) % size, from = (rank - b->distance + size) % size;
    if (PMPI_Irecv(NULL, 0, MPI_BYTE, from, TAG, b->all, &b->requests[0]) != MPI_SUCCESS ||
        PMPI_Isend(NULL, 0, MPI_BYTE, to, TAG, b->all, &b->requests[1]) != MPI_SUCCESS)
        return -1;
    b->distance *= 2;
    return 1;
}

int ix_barrier_enter(ix_barrier *b, MPI_Comm all)
{
    *b = (ix_barrier){all, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, 1};
    return next_round(b) < 0 ? -1 : 0;
}

int ix_barrier_test(ix_barrier *b, int *over)
{
    int done = 0;
    *over = 0;
    if (PMPI_Testall(2, b->requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return -1;
    if (!done)
        return 0;
    int more = next_round(b);
    *over = !more;
    return more < 0 ? -1 : 0;
}

#else

int ix_barrier_enter(ix_barrier *b, MPI_Comm all)
{
    *b = (ix_barrier){all, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, 0};
    return PMPI_Ibarrier(all, &b->requests[0]) == MPI_SUCCESS ? 0 : -1;
}

int ix_barrier_test(ix_barrier *b, int *over)
{
    return PMPI_Test(&b->requests[0], over, MPI_STATUS_IGNORE) == MPI_SUCCESS ? 0 : -1;
}

#endif
