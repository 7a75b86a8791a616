/* Records of the call in progress: taken when something of it is logged, completed when it ends.
 * Until then a record's enter_ns holds the one before it of the same call. */
#ifndef IMBREX_CORE_LOG_RECORDS_H
#define IMBREX_CORE_LOG_RECORDS_H

#include "core/call_logging.h"
#include "core/log_memory.h"
#include "core/log_streams.h"

/* The fields of a record as the words that they are stored in. */
enum ix_log_words {
    IX_LOG_WORD_CALL = 32,  /* site, operation, section */
    IX_LOG_WORD_WHERE = 40, /* comm, peer */
    IX_LOG_WORD_ORDER = 48, /* tag, sequence */
    IX_LOG_WORD_KIND = 56,  /* end_call, kind, path, thread, flags */
};
_Static_assert(offsetof(ix_log_record, site) == IX_LOG_WORD_CALL &&
                   offsetof(ix_log_record, comm) == IX_LOG_WORD_WHERE &&
                   offsetof(ix_log_record, tag) == IX_LOG_WORD_ORDER &&
                   offsetof(ix_log_record, end_call) == IX_LOG_WORD_KIND,
               "words of a record");

static inline void ix_log_put(ix_log_record *r, enum ix_log_words at, uint64_t value)
{
    memcpy((char *)r + at, &value, sizeof value);
}

static inline uint32_t ix_log_kind_of(uint64_t envelope)
{
    return (uint32_t)(envelope >> 32) & 0xff;
}

static inline uint64_t ix_log_with_kind(uint64_t envelope, uint32_t kind)
{
    return (envelope & ~(UINT64_C(0xff) << 32)) | (uint64_t)kind << 32;
}

static inline uint32_t ix_log_flags_of(uint64_t envelope)
{
    return (uint32_t)(envelope >> 56);
}

static inline int32_t ix_log_peer_of(uint64_t where)
{
    return (int32_t)(where >> 32);
}

static inline uint64_t ix_log_flagged(uint64_t envelope, uint32_t flags)
{
    return envelope | (uint64_t)flags << 56;
}

static inline int ix_log_is_message(uint32_t kind)
{
    return (kind >= IX_LOG_SEND && kind <= IX_LOG_RECV) ||
           (kind >= IX_LOG_PARTS_SEND && kind <= IX_LOG_PARTS_RECV);
}

static inline int ix_log_is_wildcard(uint64_t envelope)
{
    return ix_log_flags_of(envelope) & IX_LOG_WILDCARD;
}

/* The sequence of a message, 0 where it has none. */
static inline IX_ALWAYS uint32_t ix_log_count_message(uint64_t where, uint64_t *envelope)
{
    uint32_t kind = ix_log_kind_of(*envelope);
    enum ix_log_direction direction = kind == IX_LOG_RECV ? IX_LOG_IN : IX_LOG_OUT;
    if (IX_UNLIKELY(ix_log_peer_of(where) < 0))
        return 0;
    if (IX_UNLIKELY(kind >= IX_LOG_PARTS_SEND))
        direction = kind == IX_LOG_PARTS_SEND ? IX_LOG_PARTS_OUT : IX_LOG_PARTS_IN;
    uint32_t sequence = ix_log_count(where, (int32_t)*envelope, direction);
    if (IX_UNLIKELY(!sequence))
        *envelope = ix_log_flagged(*envelope, IX_LOG_UNCOUNTED);
    return sequence;
}

/* Room for more records of the call in progress; 0: none, or nothing is logged in this window. */
IX_HIDDEN int ix_log_make_room(ix_thread *t);

/* A record of the call in progress, NULL where it is not logged. */
static inline IX_ALWAYS ix_log_record *ix_log_reserve(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (IX_UNLIKELY(t->muted))
        return NULL;
    if (IX_UNLIKELY(t->last_ns >= l->window_end_ns || l->next == l->end) && !ix_log_make_room(t))
        return NULL;
    ix_log_record *r = l->next++;
    __builtin_prefetch(r + 2, 1, 3);
    if (!l->last) {
        l->call_id = l->next_id;
        t->state |= IX_LOGGED;
    }
    l->next_id++;
    r->enter_ns = (int64_t)(uintptr_t)l->last;
    l->last = r;
    return r;
}

static inline IX_ALWAYS uint32_t ix_log_id_of_last(const ix_thread *t)
{
    return t->log.next_id - 1;
}

static inline IX_ALWAYS void ix_log_fill(ix_thread *t, ix_log_record *r, int64_t bytes,
                                         uint64_t where, uint64_t envelope, uint32_t sequence,
                                         uint32_t end_call)
{
    const uint64_t kind_path_flags = UINT64_C(0xff00ffff) << 32;
    uint64_t first = r->enter_ns ? 0 : (uint64_t)IX_LOG_FIRST << 56;
    r->bytes = bytes;
    ix_log_put(r, IX_LOG_WORD_WHERE, where);
    ix_log_put(r, IX_LOG_WORD_ORDER, (uint32_t)envelope | (uint64_t)sequence << 32);
    ix_log_put(r, IX_LOG_WORD_KIND,
               end_call | (envelope & kind_path_flags) | (uint64_t)(uint8_t)t->slot << 48 | first);
}

static inline IX_ALWAYS void ix_log_add_done(ix_thread *t, int64_t bytes, uint64_t where,
                                             uint64_t envelope, uint32_t sequence)
{
    ix_log_record *r = ix_log_reserve(t);
    if (r)
        ix_log_fill(t, r, bytes, where, envelope, sequence, ix_log_id_of_last(t));
}

#endif
