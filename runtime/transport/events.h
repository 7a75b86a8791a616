/* Which source of events is used on which path: IMBREX_EVENTS=auto|call|ucx|ofi|peruse. */
#ifndef IMBREX_EVENTS_H
#define IMBREX_EVENTS_H

#include "comms.h"
#include "engine.h"
#include "types.h"

/* Choose, once the engine runs and before anything is measured. Collective over `all`, a duplicate
 * of MPI_COMM_WORLD. Every rank chooses the same. */
IX_HIDDEN void ix_events_start(MPI_Comm all);

/* "call", "ucx", "ofi" or "peruse", by enum ix_path. */
IX_HIDDEN const char *ix_events_of(int path);

/* Why a source inside the library was tried and not used; NULL if none was, or it is used. */
IX_HIDDEN const char *ix_events_reason(void);

/* One-sided transfers. Within the call that begins one: whether a source inside the library has
 * taken it, all its bytes; whether it saw that it is over on both sides; that it has this request.
 * And when those of a group and target (or IX_ALL) are over. */
IX_HIDDEN int ix_events_rma_begun(ix_thread *t, uint64_t group, int32_t target,
                                  const ix_transfer *transfer);
IX_HIDDEN int ix_events_rma_over(ix_thread *t, const ix_transfer *transfer);
IX_HIDDEN void ix_events_rma_requested(ix_thread *t, uint64_t group, int32_t target,
                                       const ix_transfer *transfer, uint64_t handle);
IX_HIDDEN void ix_events_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack);

/* Whether the source in use wants to be told of communicators and of completed requests. Persistent
 * requests are not seen by it. */
#ifdef IMBREX_DIRECT
#define ix_events_are_told 0
#else
extern IX_HIDDEN int ix_events_are_told;
#endif

/* A communicator was met: before and after others can find it. */
IX_HIDDEN void ix_events_met(ix_comm *c);
IX_HIDDEN void ix_events_listen(MPI_Comm comm, const ix_comm *c);
/* One is freed. */
IX_HIDDEN void ix_events_freed(void);

/* In the call that sees it: a request is complete, and what it brought if it is a receive; so is
 * the blocking receive of this call; nobody will say how a request ends. */
IX_HIDDEN void ix_events_completed(ix_thread *t, uint64_t request, int64_t bytes, int path);
IX_HIDDEN void ix_events_received(ix_thread *t, const ix_transfer *transfer);
IX_HIDDEN void ix_events_lost(ix_thread *t, uint64_t request);

#endif
