/* Start and end of measuring in an MPI job. */
#ifndef IMBREX_JOB_H
#define IMBREX_JOB_H

#include "thread.h"

/* Wrappers record while this is set: between the job's start and its end. */
extern IX_HIDDEN int ix_measuring;

/* At the exit of MPI_Init or MPI_Init_thread. Collective over MPI_COMM_WORLD. Never fails the
 * program: what goes wrong is said once and the job runs unmeasured. */
IX_HIDDEN void ix_job_start(void);
/* At the entry of MPI_Finalize: stop, merge, write. Collective. */
IX_HIDDEN void ix_job_end(void);
/* At the exit of MPI_Finalize. */
IX_HIDDEN void ix_job_ended(void);
/* At the entry of MPI_Abort. */
IX_HIDDEN void ix_job_abort(void);
/* Programs of sessions: no communication at all, the ranks' parts stay to be read. */
IX_HIDDEN void ix_job_start_session(void);
IX_HIDDEN void ix_job_end_session(void);

/* MPI_Pcontrol: 0 pauses, 1 resumes; the same level again does nothing. */
IX_HIDDEN void ix_pcontrol(int level);

/* One line on stderr, from rank 0 only unless the fault is a rank's own. */
IX_HIDDEN void ix_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
