/* What the library does with request handles, learnt by trying. */
#ifndef IMBREX_LEARN_H
#define IMBREX_LEARN_H

#include "ix_mpi.h"
#include "thread.h"

/* Find the handles that the library gives to several requests at once because these are complete
 * when they begin, and tell the engine. `self` is a communicator of this process alone. */
IX_HIDDEN void ix_learn_shared_handles(MPI_Comm self);

/* Whether the status of an MPI_Isendrecv can be believed. */
extern IX_HIDDEN int ix_pair_status_works;

#endif
