/* What one thread knows: its clock of compute and call time, the call it is in. Only ix_enter and
 * ix_outermost are for callers; the fields are the engine's. */
#ifndef IMBREX_THREAD_H
#define IMBREX_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock.h"
#include "part.h"
#include "times.h"

#define IX_HIDDEN __attribute__((visibility("hidden")))
#define IX_APART __attribute__((noinline))
#define IX_COLD __attribute__((cold, noinline))
#define IX_HOT __attribute__((hot))
#define IX_ALWAYS __attribute__((always_inline))
#define IX_LIKELY(x) __builtin_expect(!!(x), 1)
#define IX_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define IX_BLOCKING_MAX 8
#define IX_SITE_CACHE 16
#define IX_TIME_CACHE 8
#define IX_CALL_CACHE 64
#define IX_BEGIN_CACHE 32       /* entries of a thread, */
#define IX_MAIN_BEGIN_CACHE 256 /* and of the main one */
#define IX_AT_ONCE_MAX 2        /* a send and a receive */
#define IX_HINTS 32
#define IX_SECTION_DEPTH 32

typedef struct ix_thread ix_thread;

/* What transfers have in common that one call site begins with one size, path and slack. */
typedef struct ix_what {
    int64_t open_ns; /* what it adds to the engine's begun_ns */
    int64_t bytes;
    ix_time time;
    ix_row *row; /* of the thread that began it; NULL: to be looked up, or silent */
    int32_t site;
    int32_t ranks;
    uint16_t x_operation; /* of the collective's calibration */
    uint16_t operation;
    uint16_t section;
    uint8_t path, slack, flags, role;
    uint8_t source;
    uint8_t silent;      /* dropped, or left to another source: not in any row */
    uint8_t unknown_end; /* freed, cancelled, no room */
    uint8_t unsized;     /* unknown end of a receive or a cancelled transfer: X_lo = 0, bytes = 0 */
    uint8_t usual; /* the row (or silent), X and the slack are known, no collective, the end too */
} ix_what;

/* A transfer under way: where its thread's clocks stood when it began, and what it is. */
typedef struct ix_open {
    int64_t compute0_ns, call0_ns, paused0_ns; /* of `thread`, at the begin */
    ix_thread *thread;
    ix_what what;
} ix_open;

typedef struct ix_site_entry {
    uint64_t address;
    int64_t site;
} ix_site_entry;

typedef struct ix_time_entry {
    int64_t bytes; /* 0: empty */
    uint32_t path;
    uint32_t generation;
    ix_time time;
} ix_time_entry;

/* What a call at this address began last. Never a collective. Silent is what is left to another
 * source. */
typedef struct ix_begin_entry {
    uint64_t address;
    uint64_t word;  /* of the transfer: ix_transfer_word */
    uint32_t where; /* operation and section */
    uint32_t generation;
    ix_what what;     /* bytes 0: empty */
    uint64_t padding; /* to a size that an index is quickly multiplied with */
} ix_begin_entry;
_Static_assert(sizeof(ix_begin_entry) == 128, "two lines of the cache");

/* The row that a call at this address was counted in last. */
typedef struct ix_call_entry {
    uint64_t address;
    uint64_t word; /* operation, section, size class, path: as in the key of a row; 0: empty */
    ix_row *row;
} ix_call_entry;

/* What the end of a call at this address needed last: fetched while the library is at work. */
typedef struct ix_hint {
    const void *entry; /* of the begin cache or the call cache */
    const ix_row *row;
} ix_hint;

enum { IX_BEGAN = 1, IX_ENDED = 2 };

/* By lines of the cache: what each call needs; what it began and ended; the rest. */
struct ix_thread {
    _Alignas(64) int64_t last_ns;           /* the last CALL_ENTER or CALL_EXIT */
    int64_t compute_ns, call_ns, paused_ns; /* since the thread was attached */
    uint64_t measured_epoch;                /* as epoch; UINT64_MAX while muted */
    const void *address;
    uint32_t depth;
    uint32_t operation; /* below 65536 */
    uint8_t muted;      /* paused, or the engine stopped: boundaries take the slow way */
    uint8_t off;        /* the engine stopped */
    uint8_t unrecorded; /* the call in progress was entered while muted */
    uint8_t first_path; /* (between these and touched, that tests of both need not wait for it) */
    uint8_t touched;    /* IX_BEGAN, IX_ENDED; else the fields down to outside_ns are 0 */
    uint8_t has_row;    /* first_* are set */
    int8_t first_class;

    uint16_t section;
    int32_t site; /* of the call in progress, -1: not looked up yet */
    uint32_t exposed_at_enter;
    uint32_t finished; /* slot + 1 of the first transfer that ends with this call */
    uint16_t blocking_count, at_once_count;
    uint32_t frame;    /* low half of the end of the frame of the call in progress; 0: not told */
    ix_row *first_row; /* with has_row: the row itself, if it is known */
    uint64_t closed_at_enter; /* engine's closed_ns */
    int64_t moving_until_ns;  /* engine's, at CALL_ENTER */
    ix_part_thread *part;
    uint64_t debt_paid_ns;

    const ix_what *at_once[IX_AT_ONCE_MAX]; /* usual transfers that begin and end with this call */
    uint64_t begun_here_ns;                 /* begun by this call */
    int64_t moving_min_ns;                  /* what must have moved in this call */
    int64_t outside_ns; /* what may have moved outside of what ends in this call */
    ix_begin_entry *begin_cache;
    uint32_t begin_shift; /* 64 - log2 of the entries of begin_cache */

    uint32_t slot;          /* in the table of threads */
    uint64_t epoch;         /* of the engine, as last seen */
    uint32_t unloaded;      /* the engine's, when what is kept by address was last forgotten */
    int64_t paused_seen_ns; /* the engine's pauses up to last_ns */
    int64_t seen_ns;        /* the last end that a source has timed */
    ix_row *rows;
    uint32_t *row_index;
    uint32_t row_mask, row_capacity, row_used;
    const char *stack_low, *stack_high;     /* of the thread's own stack; NULL: not asked yet */
    uint32_t section_depth, section_beyond; /* and how many more are open */
    uint16_t section_stack[IX_SECTION_DEPTH];
    ix_open blocking[IX_BLOCKING_MAX];
    ix_site_entry site_cache[IX_SITE_CACHE]; /* all 0: address 0 is site 0 */
    ix_time_entry time_cache[IX_TIME_CACHE];
    ix_call_entry call_cache[IX_CALL_CACHE];
    ix_hint hints[IX_HINTS];
};

/* What all threads share and ix_enter reads. */
typedef struct ix_shared {
    _Atomic uint64_t epoch;          /* changes when measuring pauses, resumes or stops, or an image
                                      * with call sites is unloaded; odd: changing */
    _Atomic uint64_t begun_ns;       /* X_hi of all transfers ever begun, modulo 2^64 */
    _Atomic uint64_t closed_ns;      /* of those that ended */
    _Atomic int64_t moving_until_ns; /* completed sends may still be leaving until then */
    _Atomic uint64_t debt_ns; /* what may have moved outside begin and end: see theory.md, Wait */
    _Atomic uint32_t exposed; /* windows open to others */
} ix_shared;

extern IX_HIDDEN ix_shared ix_share;
extern IX_HIDDEN __thread ix_thread *ix_self;

IX_HIDDEN IX_COLD ix_thread *ix_attach(void);
IX_HIDDEN void ix_enter_slow(ix_thread *t, int64_t now);

/* Whether the call that this thread is in was left without returning, by longjmp or an exception:
 * then it is over, and the one just entered is the outermost. */
IX_HIDDEN IX_COLD int ix_was_abandoned(ix_thread *t, const char *frame);

/* After so much computation the cache may have lost what the end of a call needs: fetch it. */
#define IX_COOLING_NS 1000
IX_HIDDEN void ix_fetch_ahead(ix_thread *t);

/* CALL_ENTER, of a call that its callbacks may leave without returning. */
static inline IX_ALWAYS ix_thread *ix_enter_from(uint32_t operation, const void *site,
                                                 const char *frame)
{
    ix_thread *t = ix_self;
    if (IX_UNLIKELY(!t) && !(t = ix_attach()))
        return t;
    if (IX_UNLIKELY(t->depth++ != 0) && !(frame && ix_was_abandoned(t, frame)))
        return t;
    t->frame = (uint32_t)(uintptr_t)frame;
    t->operation = operation;
    t->address = site;
    t->site = -1;
    t->closed_at_enter = atomic_load_explicit(&ix_share.closed_ns, memory_order_acquire);
    t->moving_until_ns = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    t->exposed_at_enter = atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    int64_t now = ix_now();
    if (IX_UNLIKELY(t->measured_epoch !=
                    atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))) {
        ix_enter_slow(t, now);
        return t;
    }
    int64_t computed = now - t->last_ns;
    t->compute_ns += computed;
    t->last_ns = now;
    if (computed > IX_COOLING_NS)
        ix_fetch_ahead(t);
    return t;
}

/* CALL_ENTER: see engine.h. */
static inline IX_ALWAYS ix_thread *ix_enter(uint32_t operation, const void *site)
{
    return ix_enter_from(operation, site, NULL);
}

/* The last time that this thread has read: what begins now did not begin before. Reading the clock
 * once more would tell it to some hundred ns less, and take a sixth of the time that a transfer
 * adds. */
static inline int64_t ix_last_time(const ix_thread *t)
{
    return t->seen_ns > t->last_ns ? t->seen_ns : t->last_ns;
}

/* In a call entered from user code, and the engine runs. */
static inline int ix_outermost(const ix_thread *t)
{
    return t && t->depth == 1 && !t->off;
}

#endif
