/* Messages under way, by a number that the library gives them: 0 is none. A table of fixed size. */
#ifndef IMBREX_TRANSPORT_INFLIGHT_H
#define IMBREX_TRANSPORT_INFLIGHT_H

#include <stdatomic.h>

#include "core/engine.h"

enum { IX_INFLIGHT_SLOTS = 4096, IX_INFLIGHT_MOST = IX_INFLIGHT_SLOTS / 2 };

typedef struct ix_message {
    uint64_t id; /* 0: free */
    ix_moment end;
    int64_t bytes;
    uint32_t token;
    uint8_t kind;
    uint8_t ended;
} ix_message;

typedef struct ix_inflight {
    ix_message messages[IX_INFLIGHT_SLOTS];
    uint32_t count;
    atomic_flag busy; /* never contended but with threads */
} ix_inflight;

IX_HIDDEN void ix_inflight_lock(ix_inflight *table);
IX_HIDDEN void ix_inflight_unlock(ix_inflight *table);

/* With the lock held: the message of that number, or a free one (id 0) where it would be. */
IX_HIDDEN ix_message *ix_inflight_find(ix_inflight *table, uint64_t id);
IX_HIDDEN void ix_inflight_forget(ix_inflight *table, ix_message *message);

/* Without it: remember a message that ix_post was just told of. One of the same number that is
 * still there has an unknown end, and so has this one if there is no room: then 0. */
IX_HIDDEN int ix_inflight_add(ix_inflight *table, ix_thread *t, ix_message message);

IX_HIDDEN void ix_end_unknown(ix_thread *t, uint32_t token);

#endif
