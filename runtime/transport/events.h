/* Which source of events is used on which path: IMBREX_EVENTS=auto|call|ucx. */
#ifndef IMBREX_EVENTS_H
#define IMBREX_EVENTS_H

#include "engine.h"
#include "types.h"

/* Choose, once the engine runs and before anything is measured. Collective over `all`, a duplicate
 * of MPI_COMM_WORLD. Every rank chooses the same. */
IX_HIDDEN void ix_events_start(MPI_Comm all);

/* "call" or "ucx", by enum ix_path. */
IX_HIDDEN const char *ix_events_of(int path);

/* Why a source inside the library was tried and not used; NULL if none was, or it is used. */
IX_HIDDEN const char *ix_events_reason(void);

/* One-sided transfers. Within the call that begins one: whether a source inside the library has
 * taken it, all its bytes. And when those of a group and target (or IX_ALL) are over. */
IX_HIDDEN int ix_events_rma_begun(ix_thread *t, uint64_t group, int32_t target,
                                  const ix_transfer *transfer);
IX_HIDDEN void ix_events_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack);

#endif
