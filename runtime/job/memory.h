/* Whether the ranks have the memory to merge in. */
#ifndef IMBREX_JOB_MEMORY_H
#define IMBREX_JOB_MEMORY_H

#include <stdint.h>

#include "mpi/observers.h"

/* Bytes of address space that a limit (ulimit -v) leaves to this process; INT64_MAX: no limit. */
IX_HIDDEN int64_t ix_address_space_left(void);

/* Whether a limit (ulimit -v) leaves some rank so little that the MPI library, which ends the
 * program where it gets no memory, might need more. The same on every rank. Collective. */
IX_HIDDEN int ix_memory_is_short(const ix_job *job);

#endif
