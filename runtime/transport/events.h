/* Which source of events is used on which path: IMBREX_EVENTS=auto|call|ucx. */
#ifndef IMBREX_EVENTS_H
#define IMBREX_EVENTS_H

#include "types.h"

/* Choose, once the engine runs and before anything is measured. Collective over `all`, a duplicate
 * of MPI_COMM_WORLD. Every rank chooses the same. */
IX_HIDDEN void ix_events_start(MPI_Comm all);

/* "call" or "ucx", by enum ix_path. */
IX_HIDDEN const char *ix_events_of(int path);

#endif
