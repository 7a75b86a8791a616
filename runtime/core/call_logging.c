/* Records of the call log. While its call lasts, a record's enter_ns holds the one before it of the
 * same call. */
#include "core/call_logging.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/log_comms.h"
#include "core/log_memory.h"
#include "core/log_requests.h"
#include "core/log_streams.h"

int ix_log_is_on;
int ix_log_cancels;

static void *tables;
static size_t tables_bytes;

/* ---- Start and end */

int ix_log_start(uint64_t budget, uint64_t step_bytes)
{
    if (!ix_engine.part || tables)
        return -1;
    size_t streams = sizeof(ix_log_stream) << IX_LOG_STREAM_BITS;
    size_t requests = sizeof(ix_log_request) << IX_LOG_REQUEST_BITS;
    void *memory = mmap(NULL, streams + requests, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    if (ix_log_map(budget, step_bytes) || ix_log_comms_start()) {
        int error = errno;
        ix_log_unmap();
        munmap(memory, streams + requests);
        errno = error;
        return -1;
    }
    tables = memory;
    tables_bytes = streams + requests;
    ix_log_streams = memory;
    ix_log_requests = (void *)((char *)memory + streams);
    ix_log_cancels = 0;
    return 0;
}

void ix_log_begin(void)
{
    if (!tables)
        return;
    int64_t now = ix_now();
    ix_log_memory.origin_ns = now;
    ix_log_memory.header->origin_ns = now - ix_engine.start_ns;
    ix_log_is_on = 1;
}

void ix_log_stop(int64_t now)
{
    if (!ix_log_is_on)
        return;
    ix_log_is_on = 0;
    ix_log_memory.header->end_ns = now - ix_engine.start_ns;
}

void ix_log_release(void)
{
    ix_log_is_on = 0;
    ix_log_comms_stop();
    ix_log_unmap();
    if (tables)
        munmap(tables, tables_bytes);
    tables = NULL;
    ix_log_streams = NULL;
    ix_log_requests = NULL;
}

const ix_log_header *ix_log(void)
{
    return ix_log_memory.header;
}

/* ---- Records */

static IX_COLD void use_next_chunk(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (l->end && !l->last) /* else ix_log_leave still writes there */
        __atomic_store_n(&ix_log_chunk_of(l->end - 1)->in_use, 0, __ATOMIC_RELEASE);
    l->next = l->end = NULL;
    int64_t since = t->last_ns - ix_log_memory.origin_ns;
    uint32_t window = since > 0 ? (uint32_t)(since >> ix_log_memory.shift) : 0;
    l->window_end_ns = ix_log_memory.origin_ns + ((int64_t)(window + 1) << ix_log_memory.shift);
    ix_log_chunk *chunk = ix_log_counts(window) ? ix_log_take_chunk(t->slot, window) : NULL;
    if (!chunk) {
        if (ix_log_counts(window))
            ix_count(&ix_log_memory.header->lost);
        return;
    }
    l->next = (ix_log_record *)(void *)chunk + 1;
    l->end = l->next + IX_LOG_CHUNK_RECORDS - 1;
    l->next_id = chunk->order * IX_LOG_CHUNK_RECORDS + 1;
}

static IX_APART int make_room(ix_thread *t)
{
    const ix_log_thread *l = &t->log;
    int is_new = t->last_ns >= l->window_end_ns;
    if (!ix_log_is_on || (!is_new && !l->end))
        return 0; /* nothing is logged in this window */
    use_next_chunk(t);
    return l->end != NULL;
}

/* A record of the call in progress, NULL where it is not logged. */
static inline IX_ALWAYS ix_log_record *reserve(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (IX_UNLIKELY(t->muted))
        return NULL;
    if (IX_UNLIKELY(t->last_ns >= l->window_end_ns || l->next == l->end) && !make_room(t))
        return NULL;
    ix_log_record *r = l->next++;
    __builtin_prefetch(r + 2, 1, 3);
    if (!l->last)
        l->call_id = l->next_id;
    l->next_id++;
    r->enter_ns = (int64_t)(uintptr_t)l->last;
    l->last = r;
    return r;
}

static inline IX_ALWAYS uint32_t id_of_last(const ix_thread *t)
{
    return t->log.next_id - 1;
}

static inline IX_ALWAYS void fill(ix_thread *t, ix_log_record *r, int64_t bytes, uint64_t where,
                                  uint64_t what, uint32_t sequence, uint32_t end_call)
{
    r->bytes = bytes;
    r->comm = (uint32_t)where;
    r->peer = (int32_t)(where >> 32);
    r->tag = (int32_t)what;
    r->sequence = sequence;
    r->end_call = end_call;
    r->kind = (uint8_t)(what >> 32);
    r->path = (uint8_t)(what >> 40);
    r->thread = (uint8_t)t->slot;
    r->flags = (uint8_t)((what >> 56) | (r->enter_ns ? 0 : IX_LOG_FIRST));
}

/* Completes the records of a call, the last one first. */
static inline IX_ALWAYS void complete(ix_thread *t, int64_t entered, int64_t now, int64_t before,
                                      int counts)
{
    ix_log_thread *l = &t->log;
    const ix_log_chunk *at_hand = l->end ? ix_log_chunk_of(l->end - 1) : NULL;
    int32_t site = ix_call_site(t);
    ix_log_chunk *chunk = NULL;
    for (ix_log_record *r = l->last, *previous; r; r = previous) {
        previous = (ix_log_record *)(uintptr_t)r->enter_ns;
        r->enter_ns = entered - ix_engine.start_ns;
        r->exit_ns = now - ix_engine.start_ns;
        r->call_before_ns = before;
        r->site = site;
        r->operation = t->operation;
        r->section = t->section;
        if (IX_UNLIKELY(!counts))
            r->kind = IX_LOG_NONE;
        if (IX_UNLIKELY(t->paused_ns != l->paused_ns) && !previous) {
            r->flags |= IX_LOG_AFTER_PAUSE;
            l->paused_ns = t->paused_ns;
        }
        if (ix_log_chunk_of(r) == chunk)
            continue;
        if (IX_UNLIKELY(chunk && chunk != at_hand)) /* all of the call's that lay there are done */
            __atomic_store_n(&chunk->in_use, 0, __ATOMIC_RELEASE);
        chunk = ix_log_chunk_of(r);
        uint8_t used = (uint8_t)(r - (ix_log_record *)(void *)chunk + 1);
        __atomic_store_n(&chunk->used, used, __ATOMIC_RELEASE);
    }
    if (IX_UNLIKELY(chunk != at_hand))
        __atomic_store_n(&chunk->in_use, 0, __ATOMIC_RELEASE);
    l->last = NULL;
}

IX_HOT void ix_log_leave(ix_thread *t, int64_t entered, int64_t now, int64_t call_before_ns)
{
    complete(t, entered, now, call_before_ns, 1);
}

void ix_log_drop(ix_thread *t, int64_t now)
{
    complete(t, t->last_ns, now, t->call_ns, 0);
}

/* ---- What begins */

static inline uint32_t kind_of(uint64_t what)
{
    return (uint32_t)(what >> 32) & 0xff;
}

static inline uint32_t flags_of(uint64_t what)
{
    return (uint32_t)(what >> 56);
}

static inline int32_t peer_of(uint64_t where)
{
    return (int32_t)(where >> 32);
}

static inline uint64_t flagged(uint64_t what, uint32_t flags)
{
    return what | (uint64_t)flags << 56;
}

static inline int is_message(uint32_t kind)
{
    return (kind >= IX_LOG_SEND && kind <= IX_LOG_RECV) ||
           (kind >= IX_LOG_PARTS_SEND && kind <= IX_LOG_PARTS_RECV);
}

static inline enum ix_log_direction direction_of(uint32_t kind)
{
    if (IX_UNLIKELY(kind >= IX_LOG_PARTS_SEND))
        return kind == IX_LOG_PARTS_SEND ? IX_LOG_PARTS_OUT : IX_LOG_PARTS_IN;
    return kind == IX_LOG_RECV ? IX_LOG_IN : IX_LOG_OUT;
}

static inline int is_wildcard(uint64_t what)
{
    return flags_of(what) & IX_LOG_WILDCARD;
}

/* The sequence of a message, 0 where it has none. */
static inline IX_ALWAYS uint32_t count_message(uint64_t where, uint64_t *what)
{
    if (IX_UNLIKELY(peer_of(where) < 0))
        return 0;
    uint32_t sequence = ix_log_count(where, (int32_t)*what, direction_of(kind_of(*what)));
    if (IX_UNLIKELY(!sequence))
        *what = flagged(*what, IX_LOG_UNCOUNTED);
    return sequence;
}

static inline IX_ALWAYS void add_done(ix_thread *t, int64_t bytes, uint64_t where, uint64_t what,
                                      uint32_t sequence)
{
    ix_log_record *r = reserve(t);
    if (r)
        fill(t, r, bytes, where, what, sequence, id_of_last(t));
}

IX_HOT void ix_log_message(ix_thread *t, int64_t bytes, uint64_t where, uint64_t what)
{
    if (!ix_outermost(t))
        return;
    uint32_t sequence = count_message(where, &what);
    add_done(t, bytes, where, what, sequence);
}

IX_HOT void ix_log_done(ix_thread *t, int64_t bytes, uint64_t where, uint64_t what,
                        uint32_t sequence)
{
    if (!ix_outermost(t))
        return;
    ix_log_record *r = reserve(t);
    int later = kind_of(what) == IX_LOG_PUT || kind_of(what) == IX_LOG_GET;
    if (r)
        fill(t, r, bytes, where, what, sequence, later ? IX_LOG_OPEN : id_of_last(t));
}

static void remember(ix_thread *t, ix_log_request *e, const ix_log_record *r)
{
    e->thread = (uint8_t)t->slot;
    e->id = r ? id_of_last(t) : 0;
    e->chunk = r ? ix_log_chunk_number(ix_log_chunk_of(r)) : 0;
}

/* The end of what begins in this call is known: it has none, or its request is one of those that
 * the library shares between all that complete at once. */
static inline int ends_at_once(uint64_t key, uint64_t where)
{
    return peer_of(where) == IX_LOG_PROC_NULL || ix_is_shared(key);
}

IX_HOT void ix_log_begun(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where,
                         uint64_t what, uint32_t sequence)
{
    if (!ix_outermost(t))
        return;
    uint64_t key = ix_request_key(handle);
    if (is_message(kind_of(what)) && !is_wildcard(what))
        sequence = count_message(where, &what);
    if (ends_at_once(key, where)) {
        add_done(t, bytes, where, what, sequence);
        return;
    }
    ix_log_record *r = reserve(t);
    if (r)
        fill(t, r, bytes, where, what, sequence, IX_LOG_OPEN);
    else if (!is_wildcard(what) && !ix_share.concurrent)
        return; /* its end is of no interest, and is taken for no other's */
    ix_log_request *e = ix_log_request_reserve(key);
    if (IX_UNLIKELY(!e)) {
        if (r)
            r->end_call = IX_LOG_END_UNSEEN;
        return;
    }
    remember(t, e, r);
    e->where = where;
    e->what = what;
    e->state = IX_LOG_ACTIVE | (IX_UNLIKELY(what & IX_LOG_PAIR) ? IX_LOG_ONE_OF_TWO : 0);
    ix_log_request_publish(e, key);
}

/* ---- Persistent and partitioned requests */

void ix_log_planned(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where, uint64_t what,
                    uint32_t sequence, uint32_t parts)
{
    uint64_t key = ix_request_key(handle);
    ix_log_request *e = ix_outermost(t) ? ix_log_request_reserve(key) : NULL;
    if (!e)
        return;
    remember(t, e, NULL);
    e->starts = 0;
    e->where = where;
    e->what = flagged(what, IX_LOG_PERSISTENT);
    e->bytes = bytes;
    e->sequence = sequence;
    e->parts = parts;
    e->state = IX_LOG_STAYS;
    ix_log_request_publish(e, key);
}

void ix_log_started(ix_thread *t, uint64_t handle)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    if (!e || !(e->state & IX_LOG_STAYS))
        return;
    uint64_t what = e->what;
    uint32_t sequence = e->sequence;
    e->starts++;
    if (is_message(kind_of(what)))
        sequence = is_wildcard(what) ? 0 : count_message(e->where, &what);
    else
        what = (what & ~(uint64_t)UINT32_MAX) | e->starts;
    ix_log_record *r = reserve(t);
    int nothing = peer_of(e->where) == IX_LOG_PROC_NULL && is_message(kind_of(what));
    if (r)
        fill(t, r, e->bytes, e->where, what, sequence, nothing ? id_of_last(t) : IX_LOG_OPEN);
    remember(t, e, r);
    e->state |= IX_LOG_ACTIVE;
}

void ix_log_part_ready(ix_thread *t, uint64_t handle)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    if (!e || !(e->state & IX_LOG_STAYS) || !e->parts)
        return;
    uint64_t what = (e->what & ~(UINT64_C(0xff) << 32)) | (uint64_t)IX_LOG_PART_READY << 32;
    add_done(t, e->bytes / e->parts, e->where, what, 0);
}

/* ---- Matched probes: a message's key is the complement of a handle, which no request has */

void ix_log_found(ix_thread *t, uint64_t key, int64_t bytes, uint64_t where, uint64_t what)
{
    if (!ix_outermost(t))
        return;
    uint64_t receive = (what & ~(UINT64_C(0xff) << 32)) | (uint64_t)IX_LOG_RECV << 32;
    uint32_t sequence = count_message(where, &receive);
    add_done(t, bytes, where, what | (receive & flagged(0, IX_LOG_UNCOUNTED)), sequence);
    ix_log_request *e = ix_log_request_reserve(ix_request_key(key));
    if (!e)
        return;
    remember(t, e, NULL);
    e->where = where;
    e->what = receive;
    e->sequence = sequence;
    e->state = 0;
    ix_log_request_publish(e, ix_request_key(key));
}

void ix_log_found_received(ix_thread *t, uint64_t key, uint64_t handle, int64_t bytes)
{
    ix_log_request *e = ix_outermost(t) ? ix_log_request_take(ix_request_key(key), t->slot) : NULL;
    if (!e)
        return;
    uint64_t where = e->where, what = e->what;
    uint32_t sequence = e->sequence;
    ix_log_request_release(e);
    ix_log_record *r = reserve(t);
    if (!r)
        return;
    fill(t, r, bytes, where, what, sequence, handle ? IX_LOG_OPEN : id_of_last(t));
    if (!handle)
        return;
    e = ix_log_request_reserve(ix_request_key(handle));
    if (!e) {
        r->end_call = IX_LOG_END_UNSEEN;
        return;
    }
    remember(t, e, r);
    e->where = where;
    e->what = what;
    e->state = IX_LOG_ACTIVE;
    ix_log_request_publish(e, ix_request_key(handle));
}

/* ---- What ends */

/* The record of an entry, NULL where it was not logged or its chunk was taken for others. */
static inline ix_log_record *record_of(const ix_log_request *e)
{
    if (!e->id)
        return NULL;
    ix_log_record *r = ix_log_record_at(e->chunk, e->id);
    return ix_log_chunk_of(r)->order == e->id / IX_LOG_CHUNK_RECORDS ? r : NULL;
}

static void forget(ix_log_request *e)
{
    if (e->state & IX_LOG_STAYS) {
        e->state &= (uint8_t)~IX_LOG_ACTIVE;
        e->id = 0;
    } else {
        ix_log_request_release(e);
    }
}

/* What the status of a receive says. */
static inline void note_received(ix_log_record *r, uint64_t where, uint64_t what, int32_t source,
                                 int32_t tag, int64_t bytes, uint32_t flags)
{
    uint32_t sequence = 0;
    if (is_wildcard(what) && !(flags & IX_LOG_CANCELLED) && source >= 0) {
        sequence = ix_log_count(ix_log_where((uint32_t)where, source), tag, IX_LOG_IN);
        if (r)
            r->sequence = sequence;
    }
    if (!r || flags & IX_LOG_CANCELLED || bytes < 0)
        return;
    if (!(flags & IX_LOG_FAILED))
        r->bytes = bytes;
    if (is_wildcard(what)) {
        r->peer = source;
        r->tag = tag;
        r->flags |= sequence ? 0 : IX_LOG_UNCOUNTED;
        if (flags >> 8)
            r->path = (uint8_t)((flags >> 8) - 1);
    }
}

IX_HOT void ix_log_completed(ix_thread *t, uint64_t handle, int32_t source, int32_t tag,
                             int64_t bytes, uint32_t flags)
{
    if (!ix_outermost(t))
        return;
    if (!t->log.last) {
        ix_log_record *own = reserve(t);
        if (own)
            fill(t, own, 0, ix_log_where(0, IX_LOG_NOBODY),
                 ix_log_what(0, IX_LOG_COMPLETION, IX_PATH_NONE, 0), 0, id_of_last(t));
    }
    uint32_t end_call = t->log.last ? t->log.call_id : IX_LOG_END_UNSEEN;
    ix_log_request *e = ix_log_request_take(ix_request_key(handle), t->slot);
    for (int again = 1; e; again = 0) {
        if (!(e->state & IX_LOG_ACTIVE)) {
            if (!(e->state & IX_LOG_STAYS))
                ix_log_request_release(e);
            return;
        }
        int one_of_two = e->state & IX_LOG_ONE_OF_TWO && again;
        uint64_t where = e->where, what = e->what;
        ix_log_record *r = record_of(e);
        forget(e);
        if (r) {
            r->end_call = end_call;
            r->flags |= (uint8_t)flags;
        }
        if (kind_of(what) == IX_LOG_RECV)
            note_received(r, where, what, source, tag, bytes, flags);
        e = IX_UNLIKELY(one_of_two) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    }
}

void ix_log_given_up(ix_thread *t, uint64_t handle)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    for (int again = 1; e; again = 0) {
        int one_of_two = e->state & IX_LOG_ONE_OF_TWO && again;
        ix_log_record *r = e->state & IX_LOG_ACTIVE ? record_of(e) : NULL;
        if (r)
            r->end_call = IX_LOG_END_UNSEEN;
        ix_log_request_release(e);
        e = one_of_two ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    }
}
