/* Transfers of requests by the key of the request. In line: with the call log on, what begins or
 * ends one does both. */
#ifndef IMBREX_CORE_REQUESTS_H
#define IMBREX_CORE_REQUESTS_H

#include "core/slots.h"

/* Where the slot of the key is not at its home, or there is more to do. */
IX_HIDDEN void ix_begin_away(ix_thread *t, uint64_t key, const ix_descriptor *d);
IX_HIDDEN void ix_finish_away(ix_thread *t, uint64_t key, int64_t bytes, int path);

/* `concurrent`: threads call at the same time, as ix_share says, for who has asked it already. */

/* A transfer of a request whose handle is not shared, in a call entered from user code. */
static inline IX_ALWAYS void ix_begin_described(int concurrent, ix_thread *t, uint64_t key,
                                                const ix_descriptor *d)
{
    ix_slot *s =
        IX_LIKELY(!(d->flags & IX_NEEDS_PROGRESS)) ? ix_slot_at_home(concurrent, key) : NULL;
    if (IX_LIKELY(s))
        ix_open_in_call_if(concurrent, t, d, &s->open);
    else
        ix_begin_away(t, key, d);
}

/* As posted: all that its begin knew stays true. */
static inline int ix_came_as_posted(const ix_descriptor *d, int64_t bytes, int path)
{
    return bytes == d->bytes && path == IX_AS_POSTED && d->path != IX_PATH_ANY &&
           (d->flags & IX_UNCOUNTED || !ix_engine.source_paths);
}

/* ix_finish, in a call. */
static inline IX_ALWAYS void ix_finish_keyed(int concurrent, ix_thread *t, uint64_t key,
                                             int64_t bytes, int path)
{
    uint32_t home = ix_home_of(key);
    if (IX_UNLIKELY(!ix_at_home_or_nowhere(concurrent, home))) {
        ix_finish_away(t, key, bytes, path);
        return;
    }
    ix_slot *s = ix_table.slots + home;
    if (ix_key_at(home) != key)
        return;
    ix_descriptor *d = &s->open.descriptor;
    if (IX_UNLIKELY(atomic_load_explicit(&s->marks, memory_order_relaxed) || s->open.thread != t ||
                    (d->flags & IX_UP_TO && !ix_came_as_posted(d, bytes, path)))) {
        ix_finish_away(t, key, bytes, path);
        return;
    }
    atomic_store_explicit(&s->key, IX_BUSY, memory_order_relaxed);
    if (d->flags & IX_UP_TO)
        d->flags &= (uint8_t)~IX_UP_TO;
    ix_end_with_call(t, s);
}

#endif
