/* What the files of the engine share. */
#ifndef IMBREX_INTERNAL_H
#define IMBREX_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, clock_gettime, posix_fallocate under -std=c11 */
#endif

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "bounds.h"
#include "engine.h"

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
    int concurrent;
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
    _Atomic uint32_t unloaded; /* how often images with call sites were unloaded */
} ix_engine_state;

extern IX_HIDDEN ix_engine_state ix_engine;

/* For counters that threads share: atomic only where threads call at the same time. */
static inline void ix_add(_Atomic uint64_t *counter, uint64_t value)
{
    if (IX_UNLIKELY(ix_engine.concurrent))
        atomic_fetch_add_explicit(counter, value, memory_order_acq_rel);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                              memory_order_relaxed);
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
IX_HIDDEN int32_t ix_site_find(ix_thread *t, uint64_t address);
IX_HIDDEN void ix_sites_forget(ix_thread *t);
IX_HIDDEN size_t ix_sections_bytes(uint32_t capacity);
IX_HIDDEN void ix_sections_start(void *memory, uint32_t capacity);

/* The end of a transfer, by the clocks of the thread that saw it. */
typedef struct ix_end {
    int64_t compute_ns, call_ns, paused_ns; /* the thread's clocks at the end */
    int64_t in_call_ns; /* call time of the call in progress up to the end, if it is recorded */
    int64_t time_ns;
} ix_end;

/* slots.c, requests.c */
IX_HIDDEN size_t ix_requests_bytes(uint32_t capacity);
IX_HIDDEN void ix_requests_start(void *memory, uint32_t capacity);
IX_HIDDEN void ix_requests_stop(ix_thread *t);

/* transfers.c: a transfer from its begin to its row. */
IX_HIDDEN void ix_open_anew(ix_thread *t, const ix_transfer *transfer, uint32_t operation,
                            ix_open *open);
/* The same of what a call begins: counted if dropped. */
IX_HIDDEN void ix_begin_anew(ix_thread *t, const ix_transfer *transfer, uint32_t operation,
                             ix_open *open);
IX_HIDDEN void ix_keep(ix_thread *t, ix_open *open, ix_begin_entry *entry, uint64_t word);
IX_HIDDEN void ix_spread_at_once(ix_thread *t);
IX_HIDDEN void ix_received(ix_thread *t, ix_open *open, int64_t bytes, int path);
IX_HIDDEN void ix_close(ix_thread *t, ix_open *open, const ix_end *end);
IX_HIDDEN void ix_close_unknown(ix_thread *t, ix_open *open);
IX_HIDDEN uint8_t ix_larger_slack(uint8_t a, uint8_t b);

/* rows.c */
typedef struct ix_row_key {
    uint64_t words[2]; /* the first 16 bytes of a row */
} ix_row_key;

IX_HIDDEN ix_row *ix_row_find(ix_thread *t, ix_row_key key);
IX_HIDDEN void ix_rows_start(ix_thread *t, ix_row *rows, uint32_t capacity, uint32_t *index,
                             uint32_t index_size);
IX_HIDDEN void ix_settle_debt(ix_thread *t);

/* pause.c */
IX_HIDDEN int64_t ix_paused_until(int64_t now);
IX_HIDDEN int64_t ix_unpaused(ix_thread *t, int64_t now);

static inline int ix_size_class(int64_t bytes)
{
    return bytes > 0 ? 63 - __builtin_clzll((uint64_t)bytes) : -1;
}

static inline uint32_t ix_hash(uint64_t value)
{
    return (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 40);
}

/* Neighbours fall into different slots: the top bits of the product spread them evenly. `slots` is
 * a power of two. */
static inline uint32_t ix_cache_slot(uint64_t value, uint32_t slots)
{
    return (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 32) / (UINT32_C(0x80000000) / slots * 2);
}

static inline int32_t ix_site_of(ix_thread *t, const void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    const ix_site_entry *cached = &t->site_cache[ix_cache_slot(address, IX_SITE_CACHE)];
    if (IX_LIKELY(cached->address == address))
        return (int32_t)cached->site;
    return ix_site_find(t, address);
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

static inline int ix_begins(const ix_thread *t, int64_t bytes, uint32_t path)
{
    return ix_outermost(t) && bytes > 0 && path != IX_PATH_NONE;
}

static inline uint32_t ix_where(const ix_thread *t)
{
    return t->operation | (uint32_t)t->section << 16;
}

static inline ix_begin_entry *ix_begin_entry_of(ix_thread *t, int64_t bytes, uint64_t word)
{
    uint64_t key = (uint64_t)(uintptr_t)t->address + ((uint64_t)bytes << 7) + word;
    return &t->begin_cache[(key * 0x9e3779b97f4a7c15u) >> t->begin_shift];
}

static inline ix_hint *ix_hint_of(ix_thread *t)
{
    return &t->hints[ix_cache_slot((uint64_t)(uintptr_t)t->address, IX_HINTS)];
}

/* Whether this call may begin what the entry holds. An entry is of a transfer that moves data. */
static inline int ix_begins_again(const ix_thread *t, const ix_begin_entry *e, int64_t bytes,
                                  uint64_t word)
{
    return IX_LIKELY(e->address == (uint64_t)(uintptr_t)t->address && e->what.bytes == bytes &&
                     e->word == word && e->where == ix_where(t) &&
                     e->generation == ix_times_generation && !t->muted);
}

/* The entry that holds what begins, at its own place or at the neighbour's; else the one to keep it
 * in. */
static inline ix_begin_entry *ix_begin_entry_for(ix_thread *t, int64_t bytes, uint64_t word)
{
    ix_begin_entry *e = ix_begin_entry_of(t, bytes, word);
    if (ix_begins_again(t, e, bytes, word))
        return e;
    ix_begin_entry *other = &t->begin_cache[(e - t->begin_cache) ^ 1];
    int is_there = ix_begins_again(t, other, bytes, word);
    return is_there || (e->what.bytes && !other->what.bytes) ? other : e;
}

static inline void ix_count_begin(ix_thread *t, uint64_t open_ns)
{
    if (IX_UNLIKELY(ix_engine.concurrent)) {
        atomic_fetch_add_explicit(&ix_share.begun_ns, open_ns, memory_order_acq_rel);
        t->begun_here_ns += open_ns;
        t->touched |= IX_ENDED; /* what it begins it owes */
        return;
    }
    uint64_t begun = atomic_load_explicit(&ix_share.begun_ns, memory_order_relaxed);
    atomic_store_explicit(&ix_share.begun_ns, begun + open_ns, memory_order_relaxed);
    t->touched |= IX_BEGAN;
}

/* Which row a call is counted in: that of the first transfer it began. */
static inline void ix_note_begin(ix_thread *t, const ix_open *open)
{
    if (t->has_row || open->what.silent || open->what.path == IX_PATH_ANY)
        return;
    t->has_row = 1;
    t->first_class = (int8_t)ix_size_class(open->what.bytes);
    t->first_path = open->what.path;
    t->first_row = open->what.row;
}

static inline void ix_note_begin_again(ix_thread *t, const ix_begin_entry *e)
{
    if (IX_UNLIKELY(t->has_row || e->what.silent))
        return;
    t->has_row = 1;
    t->first_row = e->what.row; /* never NULL */
}

/* Begin in the call in progress, at its CALL_ENTER, what the entry holds. */
static inline IX_ALWAYS void ix_open_again(ix_thread *t, const ix_begin_entry *e, ix_open *open)
{
    open->compute0_ns = t->compute_ns;
    open->call0_ns = t->call_ns;
    open->paused0_ns = t->paused_ns;
    __atomic_store_n(&open->thread, t, __ATOMIC_RELAXED); /* see rather_mine */
    /* in pieces that compilers copy in place; as a whole they call memcpy */
    memcpy(&open->what, &e->what, 48);
    memcpy((char *)&open->what + 48, (const char *)&e->what + 48, sizeof e->what - 48);
}

/* Begin in the call in progress, at its CALL_ENTER. `x_operation`: to look X up by. */
static inline void ix_open_transfer(ix_thread *t, const ix_transfer *transfer, uint32_t x_operation,
                                    ix_open *open)
{
    uint64_t word = ix_transfer_word(transfer);
    ix_begin_entry *e = ix_begin_entry_for(t, transfer->bytes, word);
    if (ix_begins_again(t, e, transfer->bytes, word)) {
        ix_open_again(t, e, open);
        ix_count_begin(t, (uint64_t)e->what.open_ns);
        ix_note_begin_again(t, e);
    } else {
        ix_begin_anew(t, transfer, x_operation, open);
        ix_keep(t, open, e, word);
        ix_note_begin(t, open);
    }
}

static inline ix_transfer ix_transfer_of(int64_t bytes, uint64_t word, uint32_t operation)
{
    return (ix_transfer){.bytes = bytes,
                         .path = (uint8_t)word,
                         .slack = (uint8_t)(word >> 8),
                         .flags = (uint8_t)(word >> 16),
                         .role = (uint8_t)(word >> 24),
                         .ranks = (int32_t)(word >> 32),
                         .operation = operation};
}

static inline uint32_t ix_power_of_two(uint32_t at_least)
{
    uint32_t size = 16;
    while (size < at_least)
        size *= 2;
    return size;
}

#endif
