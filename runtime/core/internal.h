/* What the files of the engine share. */
#ifndef IMBREX_CORE_INTERNAL_H
#define IMBREX_CORE_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, clock_gettime, posix_fallocate under -std=c11 */
#endif

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "core/bounds.h"
#include "core/engine.h"

/* What an uncalibrated transfer adds to begun_ns: more than any call lasts. */
#define IX_UNBOUNDED_NS (INT64_C(1) << 40)

typedef struct ix_engine {
    ix_part_header *part;
    size_t part_bytes;
    int mapped_file;
    char part_path[4096];
    char *work; /* anonymous memory: threads, indices, open requests */
    size_t work_bytes;
    _Atomic int running;
    pid_t pid;
    int64_t start_ns;
    uint32_t source_paths;
    double call_cost_ns;
    ix_limits limits;
    ix_thread *threads;
    _Atomic uint32_t *thread_used; /* whether a live thread holds it */
    _Atomic int lock;              /* of what is rare: new sites, sections, pauses */
    _Atomic int64_t paused_ns;     /* closed pauses */
    _Atomic int64_t pause_began_ns;
    _Atomic int paused;
    int asks_sites;            /* as in the options */
    _Atomic uint32_t unloaded; /* how often images with call sites were unloaded */
} ix_engine_state;

extern IX_HIDDEN ix_engine_state ix_engine;

/* For counters that threads share: atomic only where threads call at the same time. */
static inline void ix_add_if(int concurrent, _Atomic uint64_t *counter, uint64_t value)
{
    if (IX_UNLIKELY(concurrent))
        atomic_fetch_add_explicit(counter, value, memory_order_acq_rel);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                              memory_order_relaxed);
}

static inline void ix_add(_Atomic uint64_t *counter, uint64_t value)
{
    ix_add_if(ix_share.concurrent, counter, value);
}

static inline void ix_lock(void)
{
    while (atomic_exchange_explicit(&ix_engine.lock, 1, memory_order_acquire))
        sched_yield();
}

static inline void ix_unlock(void)
{
    atomic_store_explicit(&ix_engine.lock, 0, memory_order_release);
}

static inline void ix_count(int64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* mapping.c */
IX_HIDDEN void *ix_map(const char *path, size_t bytes, enum ix_started *how);

/* sites.c, sections.c: registers in the mapping; capacity is in the part's tables. */
IX_HIDDEN size_t ix_sites_bytes(uint32_t capacity);
IX_HIDDEN void ix_sites_start(void *memory, uint32_t capacity);
IX_HIDDEN int32_t ix_site_find(uint64_t address);
IX_HIDDEN void ix_sites_forget(ix_thread *t);
IX_HIDDEN size_t ix_sections_bytes(uint32_t capacity);
IX_HIDDEN void ix_sections_start(void *memory, uint32_t capacity);

/* abandoned.c: whether this is on the stack that the thread was given. */
IX_HIDDEN int ix_is_on_own_stack(ix_thread *t, const char *frame);

/* slots.c, requests.c */
IX_HIDDEN size_t ix_requests_bytes(uint32_t capacity);
IX_HIDDEN void ix_requests_start(void *memory, uint32_t capacity);
IX_HIDDEN void ix_requests_stop(ix_thread *t);

/* rows.c */
typedef struct ix_row_key {
    uint64_t words[2]; /* the first 16 bytes of a row */
} ix_row_key;

IX_HIDDEN ix_row *ix_row_find(ix_thread *t, ix_row_key key);
IX_HIDDEN void ix_rows_start(ix_thread *t, ix_row *rows, uint32_t capacity, uint32_t *index,
                             uint32_t index_size);
IX_HIDDEN void ix_settle_debt(ix_thread *t);

/* threads.c */
IX_HIDDEN void ix_threads_start(void);
IX_HIDDEN void ix_threads_end(void);

/* pause.c */
IX_HIDDEN int64_t ix_paused_until(int64_t now);
IX_HIDDEN int64_t ix_unpaused(ix_thread *t, int64_t now);

/* Of a thread that is in no call and has nothing to settle. */
static inline uint32_t ix_state_between_calls(void)
{
    return (ix_clock_is_counter() ? 0 : IX_SLOW_CLOCK) | (ix_engine.asks_sites ? IX_ASKS_SITE : 0);
}

/* The section changed, or measuring paused or resumed: in which case is a call from now on. */
static inline void ix_set_context(ix_thread *t)
{
    t->context =
        (uint64_t)t->section << 16 | IX_KEY_OF_A_CALL | (t->muted ? IX_KEY_MUTED : UINT64_C(0));
    t->key = t->context | t->operation;
}

static inline int ix_size_class(int64_t bytes)
{
    return bytes > 0 ? 63 - __builtin_clzll((uint64_t)bytes) : -1;
}

static inline uint32_t ix_hash(uint64_t value)
{
    return (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 40);
}

static inline uint64_t ix_key_word(uint32_t operation, uint32_t section, int size_class,
                                   uint32_t path)
{
    return (operation & 0xffff) | (uint64_t)(section & 0xffff) << 16 |
           (uint64_t)(uint8_t)size_class << 32 | (uint64_t)path << 40;
}

/* The first 16 bytes of a row. (Put together in registers: stores of the single fields would stall
 * the two loads that follow.) */
static inline ix_row_key ix_make_key(int32_t rank, int32_t site, uint32_t operation,
                                     uint32_t section, int size_class, uint32_t path,
                                     uint32_t source)
{
    return (ix_row_key){
        {(uint32_t)rank | (uint64_t)(uint32_t)site << 32,
         ix_key_word(operation, section, size_class, path) | (uint64_t)source << 48}};
}

static inline uint32_t ix_row_home(const ix_thread *t, const ix_row_key *k)
{
    return ix_hash(k->words[0] ^ k->words[1] * 0xff51afd7ed558ccdu) & t->row_mask;
}

static inline int ix_row_is(const ix_row *row, const ix_row_key *k)
{
    ix_row_key other;
    memcpy(&other, row, sizeof other);
    return other.words[0] == k->words[0] && other.words[1] == k->words[1];
}

/* The row of a key; NULL where there is none yet. */
static inline ix_row *ix_row_known(ix_thread *t, int32_t site, uint32_t operation, uint32_t section,
                                   int size_class, uint32_t path, uint32_t source)
{
    ix_row_key k = ix_make_key(t->rows->rank, site, operation, section, size_class, path, source);
    for (uint32_t at = ix_row_home(t, &k); t->row_index[at]; at = (at + 1) & t->row_mask)
        if (ix_row_is(t->rows + t->row_index[at] - 1, &k))
            return t->rows + t->row_index[at] - 1;
    return NULL;
}

/* The row of a key; entered if it is new. */
static inline ix_row *ix_row_of(ix_thread *t, int32_t site, uint32_t operation, uint32_t section,
                                int size_class, uint32_t path, uint32_t source)
{
    ix_row_key k = ix_make_key(t->rows->rank, site, operation, section, size_class, path, source);
    uint32_t number = t->row_index[ix_row_home(t, &k)];
    if (IX_LIKELY(number && ix_row_is(t->rows + number - 1, &k)))
        return t->rows + number - 1;
    return ix_row_find(t, k);
}

static inline uint32_t ix_power_of_two(uint32_t at_least)
{
    uint32_t size = 16;
    while (size < at_least)
        size *= 2;
    return size;
}

#endif
