/* Starting the call log of a job. */
#ifndef IMBREX_JOB_CALL_LOG_START_H
#define IMBREX_JOB_CALL_LOG_START_H

#include "base/attributes.h"
#include "generated/ix_mpi.h"

/* Collective over `all`, after ix_start: with the budget of IMBREX_LOG, or what the memory of the
 * node allows, the least of all ranks. ix_log_begin starts it. */
IX_HIDDEN void ix_call_log_start(MPI_Comm all, int measured, int rank);

/* The same where nobody else is asked. */
IX_HIDDEN void ix_call_log_start_alone(int rank);

/* One line if the log had to stay smaller than its budget. After ix_log_begin. */
IX_HIDDEN void ix_call_log_tell(int rank);

#endif
