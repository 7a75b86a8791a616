/* Records of the call in progress: taken when something of it is logged, completed when it ends.
 * They lie one behind the other. Where they go on in another chunk, that is the call's first place,
 * and the enter_ns of the record behind it holds what was the first place before. */
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

static inline uint64_t ix_log_with_kind(uint64_t envelope, uint32_t kind)
{
    return (envelope & ~(UINT64_C(0xff) << 32)) | (uint64_t)kind << 32;
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

/* Whether a chunk begins here: so the one before it is full. (NULL: there is none.) */
static inline IX_ALWAYS int ix_log_is_chunk(const ix_log_record *next)
{
    return ((uintptr_t)next & (IX_LOG_CHUNK_BYTES - 1)) == 0;
}

/* A record of the call in progress, NULL where it is not logged. */
static inline IX_ALWAYS ix_log_record *ix_log_reserve(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (IX_UNLIKELY(t->muted))
        return NULL;
    if (IX_UNLIKELY(t->last_ns >= l->window_end_ns || ix_log_is_chunk(l->next)) &&
        !ix_log_make_room(t))
        return NULL;
    ix_log_record *r = l->next++;
    __builtin_prefetch(r + 2, 1, 3);
    if (!l->first) {
        l->first = r;
        l->call_id = l->next_id;
        t->state |= IX_LOGGED;
    }
    l->next_id++;
    return r;
}

/* In a call entered from user code that has no record yet, and the engine runs. */
static inline IX_ALWAYS int ix_log_is_unlogged(const ix_thread *t)
{
    return (t->state & (IX_DEPTH | IX_OFF | IX_LOGGED)) == 1;
}

/* Whether such a call gets its first record at the place at hand. */
static inline IX_ALWAYS int ix_log_has_place(const ix_thread *t)
{
    return IX_LIKELY(!t->muted && t->last_ns < t->log.window_end_ns &&
                     !ix_log_is_chunk(t->log.next));
}

/* Whether it gets none, as nothing is logged in the window at hand. */
static inline IX_ALWAYS int ix_log_skips(const ix_thread *t)
{
    return !t->log.next && t->last_ns < t->log.window_end_ns;
}

static inline IX_ALWAYS uint32_t ix_log_id_of_last(const ix_thread *t)
{
    return t->log.next_id - 1;
}

static inline IX_ALWAYS void ix_log_fill_words(ix_log_record *r, int64_t bytes, uint64_t where,
                                               uint64_t envelope, uint32_t sequence,
                                               uint64_t last_word)
{
    r->bytes = bytes;
    ix_log_put(r, IX_LOG_WORD_WHERE, where);
    ix_log_put(r, IX_LOG_WORD_ORDER, (uint32_t)envelope | (uint64_t)sequence << 32);
    ix_log_put(r, IX_LOG_WORD_KIND, last_word);
}

static inline IX_ALWAYS void ix_log_fill(ix_thread *t, ix_log_record *r, int64_t bytes,
                                         uint64_t where, uint64_t envelope, uint32_t sequence,
                                         uint32_t end_call)
{
    const uint64_t kind_path_flags = UINT64_C(0xff00ffff) << 32;
    const uint64_t first = ix_log_id_of_last(t) == t->log.call_id ? IX_LOG_FIRST : 0;
    ix_log_fill_words(r, bytes, where, envelope, sequence,
                      end_call | (envelope & kind_path_flags) | (uint64_t)(uint8_t)t->slot << 48 |
                          first << 56);
}

/* The next record of a call that ix_log_has_place, which has the next id. The envelope has no more
 * than tag, kind, path and flags. */
static inline IX_ALWAYS ix_log_record *ix_log_add_as(ix_thread *t, uint32_t id, int64_t bytes,
                                                     uint64_t where, uint64_t envelope,
                                                     uint32_t sequence, uint32_t end_call,
                                                     int is_first)
{
    ix_log_thread *l = &t->log;
    ix_log_record *r = l->next;
    uint64_t stamp = is_first ? l->stamp : l->stamp & ~((uint64_t)IX_LOG_FIRST << 56);
    __builtin_prefetch(r + 2, 1, 3);
    l->next = r + 1;
    l->next_id = id + 1;
    if (is_first) {
        l->call_id = id;
        l->first = r;
        t->state |= IX_LOGGED;
    }
    ix_log_fill_words(r, bytes, where, envelope, sequence,
                      (envelope >> 32 << 32 | stamp) | end_call);
    return r;
}

/* The first record of one, whose id is the call's. */
static inline IX_ALWAYS ix_log_record *ix_log_add_first(ix_thread *t, uint32_t id, int64_t bytes,
                                                        uint64_t where, uint64_t envelope,
                                                        uint32_t sequence, uint32_t end_call)
{
    return ix_log_add_as(t, id, bytes, where, envelope, sequence, end_call, 1);
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

static inline IX_ALWAYS void ix_log_complete(ix_log_record *r, int64_t enter_ns, int64_t exit_ns,
                                             int64_t before_ns, uint64_t place)
{
    r->enter_ns = enter_ns;
    r->exit_ns = exit_ns;
    r->call_before_ns = before_ns;
    ix_log_put(r, IX_LOG_WORD_CALL, place);
}

/* Such a call has one record, not in a chunk left behind, nor behind a pause. */
static inline IX_ALWAYS int ix_log_is_one(const ix_thread *t)
{
    return IX_LIKELY(t->log.first + 1 == t->log.next && t->paused_ns == t->log.paused_ns);
}

static inline IX_ALWAYS void ix_log_leave_one(ix_thread *t, int64_t enter_ns, int64_t exit_ns,
                                              int64_t before_ns, uint64_t place)
{
    ix_log_record *r = t->log.first;
    ix_log_complete(r, enter_ns, exit_ns, before_ns, place);
    t->log.first = NULL;
    ix_log_publish(r);
}

/* It has two, as MPI_Sendrecv has, likewise. */
static inline IX_ALWAYS int ix_log_is_pair(const ix_thread *t)
{
    return t->log.first + 2 == t->log.next && !ix_log_is_chunk(t->log.first) &&
           t->paused_ns == t->log.paused_ns;
}

static inline IX_ALWAYS void ix_log_leave(ix_thread *t, int64_t enter_ns, int64_t exit_ns,
                                          int64_t before_ns, uint64_t place)
{
    if (ix_log_is_one(t)) {
        ix_log_leave_one(t, enter_ns, exit_ns, before_ns, place);
    } else if (ix_log_is_pair(t)) {
        ix_log_complete(t->log.first + 1, enter_ns, exit_ns, before_ns, place);
        ix_log_complete(t->log.first, enter_ns, exit_ns, before_ns, place);
        ix_log_publish(t->log.first + 1);
        t->log.first = NULL;
    } else {
        ix_log_leave_slowly(t, enter_ns, exit_ns, before_ns, place);
    }
}

#endif
