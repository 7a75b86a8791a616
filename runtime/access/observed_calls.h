/* What the recorder, the guard and the marked regions do at each MPI call. */
#ifndef IMBREX_ACCESS_OBSERVED_CALLS_H
#define IMBREX_ACCESS_OBSERVED_CALLS_H

#include "access/open_requests.h"
#include "mpi/observers.h"

extern IX_HIDDEN const ix_buffer_observer ixa_observed_calls;

/* The MPI calls of several threads take turns, and so does who touches what they share. */
IX_HIDDEN void ixa_take_turn(void);
IX_HIDDEN void ixa_end_turn(void);

/* How what these requests stood for ended; they are freed. */
IX_HIDDEN void ixa_end_open(ixa_open *open, enum ixa_ending ending);

#endif
