/* A barrier that a rank enters without waiting in it. */
#ifndef IMBREX_JOB_BARRIER_H
#define IMBREX_JOB_BARRIER_H

#include "core/thread.h"
#include "generated/ix_mpi.h"

typedef struct {
    MPI_Comm all;
    MPI_Request requests[2];
    int distance; /* of the ranks that this one tells and hears now, where it counts itself */
} ix_barrier;

/* Both return 0, or -1 where the library failed. */
IX_HIDDEN int ix_barrier_enter(ix_barrier *barrier, MPI_Comm all);

/* `over`: whether all ranks have entered it; to be asked until it is. */
IX_HIDDEN int ix_barrier_test(ix_barrier *barrier, int *over);

#endif
