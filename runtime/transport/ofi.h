/* Events from inside libfabric: docs/reference/events.md. */
#ifndef IMBREX_TRANSPORT_OFI_H
#define IMBREX_TRANSPORT_OFI_H

#include "core/engine.h"
#include "transport/seen.h"

/* 1 if tagged messages of this process pass through the event source. */
IX_HIDDEN int ix_ofi_present(void);
/* Collect into `seen` what this process does; NULL: stop collecting. */
IX_HIDDEN void ix_ofi_watch(ix_seen *seen);
/* From now on messages are transfers on `path`, but those to itself: to address `self` (where
 * `has_self`), with tags that are the same outside `tag_bits`. `is_data`[operation]: whether its
 * messages are user data. */
IX_HIDDEN void ix_ofi_use(int path, int has_self, uint64_t self, uint64_t tag_bits,
                          const uint8_t *is_data);

#endif
