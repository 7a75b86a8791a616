/* Events from inside UCX: docs/reference/events.md. */
#ifndef IMBREX_TRANSPORT_UCX_H
#define IMBREX_TRANSPORT_UCX_H

#include "core/engine.h"
#include "transport/seen.h"

/* 1 if the UCP functions of this process pass through the event source. */
IX_HIDDEN int ix_ucx_present(void);
/* Collect into `seen` what this process does; NULL: stop collecting. */
IX_HIDDEN void ix_ucx_watch(ix_seen *seen);
/* From now on messages are transfers on `path`, but those of endpoint `self`, whose tags are what
 * they are outside `tag_bits`. `is_data`[operation]: whether its messages are user data. */
IX_HIDDEN void ix_ucx_use(int path, const void *self, uint64_t tag_bits, const uint8_t *is_data);

#endif
