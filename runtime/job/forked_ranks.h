/* The ranks of a job that is over, each a process of one fork: what the matching asks of MPI,
 * answered without an MPI library. */
#ifndef IMBREX_JOB_FORKED_RANKS_H
#define IMBREX_JOB_FORKED_RANKS_H

#include "core/thread.h"
#include "generated/ix_mpi.h"

/* What one rank does; its result is the exit code of its process, 0 to 255. */
typedef int ix_forked_work(void *context, int rank);

/* Fork `ranks` processes that do their work, and wait for them. Between them PMPI_Comm_rank,
 * PMPI_Allreduce and the like work on any communicator, as far as matching.c, sparse.c, barrier.c
 * and kept_calls.c call them. `directory` has room for what they send. 0 where all processes
 * returned 0; else all of them have been ended. */
IX_HIDDEN int ix_fork_ranks(int ranks, const char *directory, ix_forked_work *work, void *context);

#endif
