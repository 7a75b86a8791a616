/* Start and end of measuring, as the wrappers of MPI_Init, MPI_Finalize and the like ask for them.
 * job/ defines these functions. */
#ifndef IMBREX_MPI_LIFECYCLE_H
#define IMBREX_MPI_LIFECYCLE_H

#include "base/attributes.h"

/* The program has made a reduction operation of its own; it has set an error handler. */
extern IX_HIDDEN int ix_has_own_operations, ix_handles_errors;

/* At the entry of MPI_Init or MPI_Init_thread: whether a thread beside those of the program will
 * call MPI. */
IX_HIDDEN int ix_job_wants_threads(void);
/* At the exit of MPI_Init or MPI_Init_thread. Collective over MPI_COMM_WORLD. Never fails the
 * program: what goes wrong is said once and the job runs unmeasured. */
IX_HIDDEN void ix_job_start(void);
/* At the entry of MPI_Finalize: stop, merge, write. Collective. */
IX_HIDDEN void ix_job_end(const void *site);
/* At the exit of MPI_Finalize. */
IX_HIDDEN void ix_job_ended(void);
/* At the entry of MPI_Abort. */
IX_HIDDEN void ix_job_abort(const void *site);
/* Programs of sessions: no communication at all, the ranks' parts stay to be read. */
IX_HIDDEN void ix_job_start_session(void);
IX_HIDDEN void ix_job_end_session(void);

#endif
