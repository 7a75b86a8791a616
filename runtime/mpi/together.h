/* How the ranks enter the library's own MPI_Finalize. */
#ifndef IMBREX_TOGETHER_H
#define IMBREX_TOGETHER_H

#include "ix_mpi.h"
#include "thread.h"

/* The last that the runtime does with `all` before PMPI_Finalize. Collective. */
IX_HIDDEN void ix_finalize_together(MPI_Comm all);

#endif
