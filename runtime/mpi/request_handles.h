/* What the library does with request handles, learnt by trying. */
#ifndef IMBREX_MPI_REQUEST_HANDLES_H
#define IMBREX_MPI_REQUEST_HANDLES_H

#include "core/thread.h"
#include "generated/ix_mpi.h"

/* Find the handles that the library gives to several requests at once because these are complete
 * when they begin, and tell the engine. `self` is a communicator of this process alone. */
IX_HIDDEN void ix_find_shared_handles(MPI_Comm self);

/* Whether the status of an MPI_Isendrecv can be believed. */
extern IX_HIDDEN int ix_pair_status_works;

#endif
