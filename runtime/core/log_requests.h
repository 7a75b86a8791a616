/* Which record an open request belongs to, so that its completion finds it: also of requests that
 * move nothing, which the engine's own table does not hold. */
#ifndef IMBREX_CORE_LOG_REQUESTS_H
#define IMBREX_CORE_LOG_REQUESTS_H

#include "core/call_log.h"
#include "core/slots.h"

enum {
    IX_LOG_ACTIVE = 1,
    IX_LOG_STAYS = 2,
    IX_LOG_ONE_OF_TWO = 4,
    /* Active and logged, and its end adds no more to its record than its call and, of one that */
    IX_LOG_PLAIN = 8,
    IX_LOG_RECEIVES = 16, /* receives, its size. Then `where` and `envelope` are not set. */
};

/* A line of the cache. */
typedef struct ix_log_request {
    _Atomic uint64_t key;     /* IX_EMPTY, IX_BUSY or as ix_request_key */
    ix_log_record *record;    /* NULL: not logged */
    uint64_t where, envelope; /* as it began, or a persistent one begins */
    int64_t bytes;            /* of a persistent one */
    uint32_t id;              /* of the record; of another one by now if its chunk was taken */
    uint32_t sequence;        /* of a persistent collective, a matched message */
    uint32_t starts;          /* of a persistent one, so far */
    uint32_t parts;           /* of a partitioned one */
    _Atomic uint16_t reach;   /* how far from this home the keys of this home were ever put */
    uint8_t state;            /* the above */
    uint8_t thread;           /* that began it */
    uint8_t reserved[4];
} ix_log_request;
_Static_assert(sizeof(ix_log_request) == 64, "a line");

#define IX_LOG_REQUEST_BITS 12

extern IX_HIDDEN ix_log_request *ix_log_requests;

static inline ix_log_request *ix_log_request_home(uint64_t key)
{
    return ix_log_requests + (ix_scatter(key) >> (64 - IX_LOG_REQUEST_BITS));
}

/* An owned entry near the home of `key`; NULL when there is none. Publish it when it is filled. */
IX_HIDDEN ix_log_request *ix_log_request_reserve_near(uint64_t key);

static inline IX_ALWAYS ix_log_request *ix_log_request_reserve(uint64_t key)
{
    ix_log_request *e = ix_log_request_home(key);
    int is_free = atomic_load_explicit(&e->key, memory_order_relaxed) == IX_EMPTY;
    return IX_LIKELY(is_free && !ix_share.concurrent) ? e : ix_log_request_reserve_near(key);
}

static inline void ix_log_request_publish(ix_log_request *e, uint64_t key)
{
    atomic_store_explicit(&e->key, key, memory_order_release);
}

static inline void ix_log_request_release(ix_log_request *e)
{
    atomic_store_explicit(&e->key, IX_EMPTY, memory_order_release);
}

/* The oldest entry of a key, owned unless it stays; NULL if there is none. Those of `thread` come
 * first: a library may give the handle of a request that one thread has just completed to another
 * before the first one's wrapper gets here. */
IX_HIDDEN ix_log_request *ix_log_request_take_near(uint64_t key, uint32_t thread);

static inline IX_ALWAYS ix_log_request *ix_log_request_take(uint64_t key, uint32_t thread)
{
    ix_log_request *e = ix_log_request_home(key);
    if (IX_UNLIKELY(ix_share.concurrent || atomic_load_explicit(&e->reach, memory_order_relaxed)))
        return ix_log_request_take_near(key, thread);
    return atomic_load_explicit(&e->key, memory_order_relaxed) == key ? e : NULL;
}

/* Which record a request has now: the last one of the call in progress, or NULL. */
static inline void ix_log_request_remember(const ix_thread *t, ix_log_request *e, ix_log_record *r)
{
    e->thread = (uint8_t)t->slot;
    e->id = t->log.next_id - 1;
    e->record = r;
}

#endif
