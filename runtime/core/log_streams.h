/* How many messages went to or came from a rank with a tag: the sequences of the call log. */
#ifndef IMBREX_CORE_LOG_STREAMS_H
#define IMBREX_CORE_LOG_STREAMS_H

#include "core/internal.h"

enum ix_log_direction {
    IX_LOG_OUT,
    IX_LOG_IN,
    IX_LOG_PARTS_OUT,
    IX_LOG_PARTS_IN,
    IX_LOG_POSTS,
    IX_LOG_STARTS
};

typedef struct ix_log_stream {
    _Atomic uint64_t where; /* communicator, direction and peer; 0: empty */
    int32_t tag;
    _Atomic uint32_t count;
} ix_log_stream;

#define IX_LOG_STREAM_BITS 14

extern IX_HIDDEN ix_log_stream *ix_log_streams;

static inline uint64_t ix_log_stream_key(uint64_t where, enum ix_log_direction direction)
{
    return where ^ (uint32_t)direction * UINT32_C(0x0e3779b1);
}

static inline uint32_t ix_log_stream_home(uint64_t key, int32_t tag)
{
    uint64_t mixed = (key + (uint64_t)(uint32_t)tag * 0x5bd1e995u) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> (64 - IX_LOG_STREAM_BITS));
}

static inline uint32_t ix_log_advance(ix_log_stream *s)
{
    if (IX_UNLIKELY(ix_share.concurrent))
        return atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed) + 1;
    uint32_t count = atomic_load_explicit(&s->count, memory_order_relaxed) + 1;
    atomic_store_explicit(&s->count, count, memory_order_relaxed);
    return count;
}

/* Away from its home, or new. */
IX_HIDDEN uint32_t ix_log_count_away(uint64_t key, int32_t tag);

/* The stream where it is at its home and no other thread counts, else NULL. */
static inline IX_ALWAYS ix_log_stream *ix_log_stream_at_home(uint64_t where, int32_t tag,
                                                             enum ix_log_direction direction)
{
    uint64_t key = ix_log_stream_key(where, direction);
    ix_log_stream *s = ix_log_streams + ix_log_stream_home(key, tag);
    int is_it = atomic_load_explicit(&s->where, memory_order_acquire) == key && s->tag == tag;
    return IX_LIKELY(is_it && !ix_share.concurrent) ? s : NULL;
}

/* Its next number, of a stream at its home; one in 2^32 is 0 and so finds no partner. */
static inline IX_ALWAYS uint32_t ix_log_advance_alone(ix_log_stream *s)
{
    uint32_t count = atomic_load_explicit(&s->count, memory_order_relaxed) + 1;
    atomic_store_explicit(&s->count, count, memory_order_relaxed);
    return count;
}

/* The number of the next message of a stream, from 1 on; 0: there was no room for the stream. */
static inline uint32_t ix_log_count(uint64_t where, int32_t tag, enum ix_log_direction direction)
{
    uint64_t key = ix_log_stream_key(where, direction);
    ix_log_stream *s = ix_log_streams + ix_log_stream_home(key, tag);
    if (IX_LIKELY(atomic_load_explicit(&s->where, memory_order_acquire) == key && s->tag == tag))
        return ix_log_advance(s);
    return ix_log_count_away(key, tag);
}

#endif
