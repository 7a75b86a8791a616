/* Events from inside UCX: docs/events.md. */
#ifndef IMBREX_UCX_H
#define IMBREX_UCX_H

#include "engine.h"
#include "seen.h"

/* 1 if the UCP functions of this process pass through the event source. */
IX_HIDDEN int ix_ucx_present(void);
/* Collect into `seen` what this process does; NULL: stop collecting. */
IX_HIDDEN void ix_ucx_watch(ix_seen *seen);
/* From now on messages are transfers on `path`, but those of endpoint `self`, whose tags are what
 * they are outside `tag_bits`. `is_data`[operation]: whether its messages are user data. */
IX_HIDDEN void ix_ucx_use(int path, const void *self, uint64_t tag_bits, const uint8_t *is_data);

/* From now on puts and gets posted in calls of the operations in `one_sided` are transfers on
 * `path`. */
IX_HIDDEN void ix_ucx_use_rma(int path, const uint8_t *one_sided);
/* In the call that began it: whether all its bytes were posted, so that they stand for it. */
IX_HIDDEN int ix_ucx_rma_begun(ix_thread *t, uint64_t group, int32_t target,
                               const ix_transfer *transfer);
/* As ix_finish_group: what of it no flush has ended is over now. */
IX_HIDDEN void ix_ucx_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack);

#endif
