/* Events from PERUSE, for Open MPI libraries built with it: docs/events.md. */
#ifndef IMBREX_PERUSE_H
#define IMBREX_PERUSE_H

#include "comms.h"
#include "engine.h"
#include "seen.h"

/* 1 if this MPI has PERUSE with the events that are needed; it is started then, and the messages on
 * `all` can be watched. */
IX_HIDDEN int ix_peruse_present(MPI_Comm all);
/* Collect into `seen` what this process posts on `all`; NULL: stop collecting. */
IX_HIDDEN void ix_peruse_watch(ix_seen *seen);
/* From now on messages on these paths (bit 1 << path) are transfers. `is_data`[operation]: whether
 * its messages are user data. */
IX_HIDDEN void ix_peruse_use(uint32_t path_bits, const uint8_t *is_data);

/* A communicator was met: its messages from the next call on are seen. `met` before others can find
 * it, `listen` after. */
IX_HIDDEN void ix_peruse_met(ix_comm *c);
IX_HIDDEN void ix_peruse_listen(MPI_Comm comm, const ix_comm *c);
/* A request is complete; the size and path of a receive. */
IX_HIDDEN void ix_peruse_completed(ix_thread *t, uint64_t request, int64_t bytes, int path);
/* The blocking receive of the call in progress is complete. */
IX_HIDDEN void ix_peruse_received(ix_thread *t, int64_t bytes, int path);
/* Nobody will say how this request ends. */
IX_HIDDEN void ix_peruse_lost(ix_thread *t, uint64_t request);

#endif
