/* How the ranks enter the library's own MPI_Finalize. */
#ifndef IMBREX_JOB_FINALIZE_H
#define IMBREX_JOB_FINALIZE_H

#include "core/thread.h"
#include "generated/ix_mpi.h"

/* The last that the runtime does with `all` before PMPI_Finalize. Collective. */
IX_HIDDEN void ix_finalize_in_step(MPI_Comm all);

/* The same of a rank that sends nothing of its own: each stays until the others have come. */
IX_HIDDEN void ix_finalize_alone(void);

#endif
