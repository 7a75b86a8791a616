/* The progress thread as an observer of the program's calls: docs/guide/progress.md. */
#ifndef IMBREX_PROGRESS_PROGRESS_H
#define IMBREX_PROGRESS_PROGRESS_H

#include "mpi/observers.h"

extern IX_HIDDEN const ix_observer ix_progress;

/* Whether the user asked for it; says once what is wrong with the options (on rank 0, as far as
 * the launcher tells which that is, and before MPI works). */
IX_HIDDEN int ix_progress_is_wanted(void);

/* MPI_Finalize was entered: no look any more, before what is open is forgotten. */
IX_HIDDEN void ix_progress_stop(void);

/* The process goes down without MPI_Finalize. */
IX_HIDDEN void ix_progress_halt(void);

#endif
