/* The level of thread support: a progress thread needs MPI_THREAD_MULTIPLE, and the program goes on
 * seeing what it would have got without one. */
#ifndef IMBREX_MPI_THREAD_LEVEL_H
#define IMBREX_MPI_THREAD_LEVEL_H

#include "base/attributes.h"
#include "generated/ix_mpi.h"

/* What to ask the library for where the program asks for `required`. */
IX_HIDDEN int ix_level_to_ask(int required);

/* What to tell the program where the library says `granted`: libraries grant what is asked for, up
 * to what they can. */
IX_HIDDEN int ix_level_to_tell(int granted);

/* PMPI_Init, or PMPI_Init_thread with more than the program asks for. */
IX_HIDDEN int ix_init(int *argc, char ***argv);

#endif
