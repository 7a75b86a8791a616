#include "core/log_streams.h"

enum { SLOTS = 1 << IX_LOG_STREAM_BITS, FURTHEST = 64 };

ix_log_stream *ix_log_streams;

static ix_log_stream *find(uint64_t key, int32_t tag, int enter)
{
    uint32_t home = ix_log_stream_home(key, tag);
    for (uint32_t i = 0; i < FURTHEST; i++) {
        ix_log_stream *s = ix_log_streams + (home + i) % SLOTS;
        uint64_t there = atomic_load_explicit(&s->where, memory_order_acquire);
        if (there == key && s->tag == tag)
            return s;
        if (there)
            continue;
        if (!enter)
            return NULL;
        s->tag = tag;
        atomic_store_explicit(&s->where, key, memory_order_release);
        return s;
    }
    return NULL;
}

uint32_t ix_log_count_away(uint64_t key, int32_t tag)
{
    ix_log_stream *s = find(key, tag, 0);
    if (IX_UNLIKELY(!s)) {
        ix_lock();
        s = find(key, tag, 1);
        ix_unlock();
    }
    return s ? ix_log_advance(s) : 0;
}
