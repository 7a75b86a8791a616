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

/* Of a message of which there is nothing more to do than to count it, its stream; else NULL. */
static inline IX_ALWAYS ix_log_stream *ix_log_plain_stream(uint64_t where, uint64_t envelope)
{
    uint32_t kind = ix_log_kind_of(envelope);
    if (IX_UNLIKELY(kind - IX_LOG_SEND > IX_LOG_RECV - IX_LOG_SEND || ix_log_peer_of(where) < 0))
        return NULL;
    return ix_log_stream_at_home(where, (int32_t)envelope,
                                 kind == IX_LOG_RECV ? IX_LOG_IN : IX_LOG_OUT);
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

/* Whether the call in progress gets its first record at the place at hand. */
static inline IX_ALWAYS int ix_log_has_place(const ix_thread *t)
{
    const ix_log_thread *l = &t->log;
    return IX_LIKELY(!t->muted && !l->last && t->last_ns < l->window_end_ns && l->next != l->end);
}

/* It; its id is the call's. */
static inline IX_ALWAYS ix_log_record *ix_log_take_place(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    ix_log_record *r = l->next;
    uint32_t id = l->next_id;
    __builtin_prefetch(r + 2, 1, 3);
    l->next = r + 1;
    l->next_id = id + 1;
    l->call_id = id;
    l->last = r;
    t->state |= IX_LOGGED;
    r->enter_ns = 0;
    return r;
}

static inline IX_ALWAYS uint32_t ix_log_id_of_last(const ix_thread *t)
{
    return t->log.next_id - 1;
}

static inline IX_ALWAYS void ix_log_fill_as(const ix_thread *t, ix_log_record *r, int64_t bytes,
                                            uint64_t where, uint64_t envelope, uint32_t sequence,
                                            uint32_t end_call, uint64_t first)
{
    const uint64_t kind_path_flags = UINT64_C(0xff00ffff) << 32;
    r->bytes = bytes;
    ix_log_put(r, IX_LOG_WORD_WHERE, where);
    ix_log_put(r, IX_LOG_WORD_ORDER, (uint32_t)envelope | (uint64_t)sequence << 32);
    ix_log_put(r, IX_LOG_WORD_KIND,
               end_call | (envelope & kind_path_flags) | (uint64_t)(uint8_t)t->slot << 48 | first);
}

#define IX_LOG_FIRST_FLAG ((uint64_t)IX_LOG_FIRST << 56)

static inline IX_ALWAYS void ix_log_fill(ix_thread *t, ix_log_record *r, int64_t bytes,
                                         uint64_t where, uint64_t envelope, uint32_t sequence,
                                         uint32_t end_call)
{
    ix_log_fill_as(t, r, bytes, where, envelope, sequence, end_call,
                   r->enter_ns ? 0 : IX_LOG_FIRST_FLAG);
}

/* The first record of the call in progress, which ix_log_has_place; and with an end of its own. */
static inline IX_ALWAYS ix_log_record *ix_log_add_first(ix_thread *t, int64_t bytes, uint64_t where,
                                                        uint64_t envelope, uint32_t sequence,
                                                        int ends_here)
{
    ix_log_record *r = ix_log_take_place(t);
    ix_log_fill_as(t, r, bytes, where, envelope, sequence, ends_here ? t->log.call_id : IX_LOG_OPEN,
                   IX_LOG_FIRST_FLAG);
    return r;
}

static inline IX_ALWAYS void ix_log_add_done(ix_thread *t, int64_t bytes, uint64_t where,
                                             uint64_t envelope, uint32_t sequence)
{
    ix_log_record *r = ix_log_reserve(t);
    if (r)
        ix_log_fill(t, r, bytes, where, envelope, sequence, ix_log_id_of_last(t));
}

/* CALL_EXIT of a call that has records: when it was entered and left since the engine's start, the
 * thread's call time before it, and its site, operation and section as they stand in a record. */
IX_HIDDEN void ix_log_leave_slowly(ix_thread *t, int64_t enter_ns, int64_t exit_ns,
                                   int64_t before_ns, uint64_t place);

static inline IX_ALWAYS void ix_log_publish(const ix_log_record *last)
{
    ix_log_chunk *chunk = ix_log_chunk_of(last);
    uintptr_t number = ((uintptr_t)last & (IX_LOG_CHUNK_BYTES - 1)) / sizeof *last;
    __atomic_store_n(&chunk->used, (uint8_t)(number + 1), __ATOMIC_RELEASE);
}

static inline IX_ALWAYS void ix_log_leave(ix_thread *t, int64_t enter_ns, int64_t exit_ns,
                                          int64_t before_ns, uint64_t place)
{
    ix_log_thread *l = &t->log;
    ix_log_record *r = l->last;
    /* several, or in a chunk left behind, or behind a pause */
    if (IX_UNLIKELY(r->enter_ns || r + 1 != l->next || t->paused_ns != l->paused_ns)) {
        ix_log_leave_slowly(t, enter_ns, exit_ns, before_ns, place);
        return;
    }
    r->enter_ns = enter_ns;
    r->exit_ns = exit_ns;
    r->call_before_ns = before_ns;
    ix_log_put(r, IX_LOG_WORD_CALL, place);
    l->last = NULL;
    ix_log_publish(r);
}

#endif
