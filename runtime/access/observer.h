/* The recorder, the guard and the marked regions, as one observer of the MPI calls. */
#ifndef IMBREX_ACCESS_OBSERVER_H
#define IMBREX_ACCESS_OBSERVER_H

#include "mpi/observers.h"

/* What is on; 0 in most runs. */
enum { IXA_RECORDS = 1, IXA_GUARDS = 2, IXA_ANNOTATED = 4 };
extern IX_HIDDEN int ixa_observed;

/* Write what was recorded; the program goes on unrecorded. */
IX_HIDDEN void ixa_end_recording(void);

extern IX_HIDDEN const ix_observer ixa_observer;

#endif
