/* Whether the ranks have the memory to merge in. */
#ifndef IMBREX_JOB_MEMORY_H
#define IMBREX_JOB_MEMORY_H

#include "mpi/observers.h"

/* Whether a limit (ulimit -v) leaves some rank so little that the MPI library, which ends the
 * program where it gets no memory, might need more. The same on every rank. Collective. */
IX_HIDDEN int ix_memory_is_short(const ix_job *job);

#endif
