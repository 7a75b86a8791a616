/* Records of the usual messages, and of what completes them. In line, and calling nothing: so that
 * who needs no more than that needs no stack. */
#ifndef IMBREX_CORE_LOG_MESSAGES_H
#define IMBREX_CORE_LOG_MESSAGES_H

#include "core/log_records.h"
#include "core/log_requests.h"

/* Any message that ends in the call in progress. */
IX_HIDDEN void ix_log_add_message(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope);

static inline IX_ALWAYS void ix_log_message_in(ix_thread *t, int64_t bytes, uint64_t where,
                                               uint64_t envelope, enum ix_log_direction direction)
{
    ix_log_stream *s = ix_log_stream_at_home(where, (int32_t)envelope, direction);
    if (IX_UNLIKELY(!s || ix_log_peer_of(where) < 0 || !ix_outermost(t) || !ix_log_has_place(t))) {
        ix_log_add_message(t, bytes, where, envelope);
        return;
    }
    uint32_t id = t->log.next_id;
    if (ix_log_is_unlogged(t))
        ix_log_add_first(t, id, bytes, where, envelope, ix_log_advance_alone(s), id);
    else
        ix_log_add_as(t, id, bytes, where, envelope, ix_log_advance_alone(s), id, 0);
}

/* The same, where it is the only one of its call. */
static inline IX_ALWAYS void ix_log_only_message(ix_thread *t, int64_t bytes, uint64_t where,
                                                 uint64_t envelope, enum ix_log_direction direction)
{
    ix_log_stream *s = ix_log_stream_at_home(where, (int32_t)envelope, direction);
    uint32_t id = t->log.next_id;
    if (IX_LIKELY(s && ix_log_is_unlogged(t) && ix_log_has_place(t)))
        ix_log_add_first(t, id, bytes, where, envelope, ix_log_advance_alone(s), id);
    else
        ix_log_add_message(t, bytes, where, envelope);
}

/* A message that the completion of a request will end, whose key is no shared one. 0: there is more
 * to do, and nothing is done. */
static inline IX_ALWAYS int ix_log_begin_plain(ix_thread *t, uint64_t key, int64_t bytes,
                                               uint64_t where, uint64_t envelope,
                                               enum ix_log_direction direction)
{
    ix_log_stream *s = ix_log_stream_at_home(where, (int32_t)envelope, direction);
    if (IX_UNLIKELY(!s || !ix_log_is_unlogged(t)))
        return 0;
    if (IX_UNLIKELY(!ix_log_has_place(t))) {
        if (!ix_log_skips(t))
            return 0;
        ix_log_advance_alone(s);
        return 1;
    }
    ix_log_request *e = ix_log_request_home(key);
    if (IX_UNLIKELY(atomic_load_explicit(&e->key, memory_order_relaxed) != IX_EMPTY))
        return 0;
    uint32_t id = t->log.next_id;
    e->record =
        ix_log_add_first(t, id, bytes, where, envelope, ix_log_advance_alone(s), IX_LOG_OPEN);
    e->id = id;
    e->thread = (uint8_t)t->slot;
    e->state = IX_LOG_ACTIVE | IX_LOG_PLAIN | (direction == IX_LOG_IN ? IX_LOG_RECEIVES : 0);
    ix_log_request_publish(e, key);
    return 1;
}

/* The record of a call that completes requests, if it has none yet; 0: there is more to do. */
static inline IX_ALWAYS int ix_log_note_completion(ix_thread *t)
{
    const uint64_t envelope = ix_log_envelope(0, IX_LOG_COMPLETION, IX_PATH_NONE, 0);
    if (!ix_log_is_unlogged(t))
        return (t->state & (IX_DEPTH | IX_OFF)) == 1;
    if (IX_UNLIKELY(!ix_log_has_place(t)))
        return ix_log_skips(t);
    if (IX_UNLIKELY(t->polls.last + 1 == t->part->calls))
        return 0;
    uint32_t id = t->log.next_id;
    ix_log_add_first(t, id, 0, ix_log_where(0, IX_LOG_NOBODY), envelope, 0, id);
    return 1;
}

/* In such a call, by a thread that calls alone, a message of a request is over. 0: there is more to
 * do, and nothing is done. */
static inline IX_ALWAYS int ix_log_end_plain(ix_thread *t, uint64_t key, int64_t bytes)
{
    ix_log_request *e = ix_log_request_home(key);
    if (IX_UNLIKELY(atomic_load_explicit(&e->reach, memory_order_relaxed)))
        return 0;
    if (atomic_load_explicit(&e->key, memory_order_relaxed) != key)
        return 1;
    ix_log_record *r = e->record;
    uint8_t state = e->state;
    if (IX_UNLIKELY(!(state & IX_LOG_PLAIN) || !t->log.first ||
                    ix_log_chunk_of(r)->order != e->id / IX_LOG_CHUNK_RECORDS))
        return 0;
    ix_log_request_release(e);
    r->end_call = t->log.call_id;
    if (state & IX_LOG_RECEIVES && bytes >= 0)
        r->bytes = bytes;
    return 1;
}

#endif
