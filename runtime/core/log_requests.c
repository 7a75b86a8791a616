#include "core/log_requests.h"

enum { SLOTS = 1 << IX_LOG_REQUEST_BITS, FURTHEST = 512 };

ix_log_request *ix_log_requests;

static inline uint32_t home_of(uint64_t key)
{
    return (uint32_t)(ix_log_request_home(key) - ix_log_requests);
}

/* Become the owner of an entry whose key is `key`. */
static inline int own(ix_log_request *e, uint64_t key)
{
    if (IX_UNLIKELY(ix_share.concurrent))
        return atomic_compare_exchange_strong_explicit(&e->key, &key, IX_BUSY, memory_order_acq_rel,
                                                       memory_order_relaxed);
    atomic_store_explicit(&e->key, IX_BUSY, memory_order_relaxed);
    return 1;
}

static void reach_out(ix_log_request *home, uint32_t distance)
{
    uint16_t reach = atomic_load_explicit(&home->reach, memory_order_relaxed);
    while (reach < distance &&
           !atomic_compare_exchange_weak(&home->reach, &reach, (uint16_t)distance))
        ;
}

ix_log_request *ix_log_request_reserve_near(uint64_t key)
{
    uint32_t home = home_of(key);
    for (uint32_t i = 0; i < FURTHEST; i++) {
        ix_log_request *e = ix_log_requests + (home + i) % SLOTS;
        if (atomic_load_explicit(&e->key, memory_order_acquire) == IX_EMPTY && own(e, IX_EMPTY)) {
            if (IX_UNLIKELY(i))
                reach_out(ix_log_requests + home, i);
            return e;
        }
    }
    return NULL;
}

static int is_better(const ix_log_request *a, const ix_log_request *b, uint32_t thread)
{
    if (!b || (a->thread == thread) != (b->thread == thread))
        return !b || a->thread == thread;
    return a->id < b->id;
}

static IX_COLD ix_log_request *take_oldest(uint64_t key, uint32_t thread, uint32_t home,
                                           uint32_t reach)
{
    ix_log_request *oldest = NULL;
    for (uint32_t i = 0; i <= reach; i++) {
        ix_log_request *e = ix_log_requests + (home + i) % SLOTS;
        if (atomic_load_explicit(&e->key, memory_order_acquire) == key &&
            is_better(e, oldest, thread))
            oldest = e;
    }
    return oldest && ((oldest->state & IX_LOG_STAYS) || own(oldest, key)) ? oldest : NULL;
}

ix_log_request *ix_log_request_take_near(uint64_t key, uint32_t thread)
{
    uint32_t home = home_of(key);
    ix_log_request *e = ix_log_requests + home;
    uint32_t reach = atomic_load_explicit(&e->reach, memory_order_relaxed);
    if (IX_UNLIKELY(reach))
        return take_oldest(key, thread, home, reach);
    if (atomic_load_explicit(&e->key, memory_order_acquire) != key)
        return NULL;
    return (e->state & IX_LOG_STAYS) || own(e, key) ? e : NULL;
}
