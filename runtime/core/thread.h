/* What one thread knows: its clock of compute and call time, the call it is in. Only ix_enter and
 * ix_outermost are for callers; the fields are the engine's. */
#ifndef IMBREX_CORE_THREAD_H
#define IMBREX_CORE_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/clock.h"
#include "core/descriptor.h"
#include "core/part.h"

#define IX_OWN_MAX 8 /* transfers that begin and end in one call */
#define IX_SECTION_DEPTH 32

/* Bits of a thread's key beside operation and section. */
#define IX_KEY_OF_A_CALL (UINT64_C(1) << 32) /* so that no key is 0 */
#define IX_KEY_MUTED (UINT64_C(1) << 33)     /* so that no plan is found */
#define IX_KEY_MOVES (UINT64_C(1) << 34)     /* of a plan: of a call that begins a transfer */

/* Bits of a thread's state. The lowest 16 count how deep the call in progress is nested: 1 in a
 * call that user code made. All are 0 between calls, but for the last two, and a plain call, of
 * which nothing has to be looked up, settled or logged at its end, has 1. */
#define IX_DEPTH UINT32_C(0xffff)
/* A transfer ended in this call, or something had to be looked up: else the fields from `finished`
 * to begun_here_ns are those of no call. */
#define IX_SETTLES (UINT32_C(1) << 16)
#define IX_LOGGED (UINT32_C(1) << 17)     /* it has records in the call log */
#define IX_OFF (UINT32_C(1) << 18)        /* the engine stopped */
#define IX_SLOW_CLOCK (UINT32_C(1) << 19) /* the clock is not the counter */
#define IX_ASKS_SITE (UINT32_C(1) << 20)  /* a wrapper's return address is not the call site */

struct ix_log_record;

/* Where this thread writes in the call log. */
typedef struct ix_log_thread {
    struct ix_log_record *next;  /* in the chunk at hand; where another chunk begins: that is full;
                                  * NULL: there is none, as nothing is logged in this window */
    struct ix_log_record *first; /* of the call in progress; NULL: it has none. A chunk: there they
                                  * go on that began in another */
    int64_t window_end_ns;       /* when the window at hand ends */
    uint32_t next_id;            /* the id of `next` */
    uint32_t call_id;            /* of the first record of the call in progress */
    int64_t paused_ns;           /* the thread's, as of its last record */
    uint64_t stamp;              /* thread and IX_LOG_FIRST as they stand in a record */
} ix_log_thread;

/* Whom a call that may block waits for, said when it is entered; of the call in progress where
 * `entered` is the lower half of last_ns. */
typedef struct ix_awaited {
    uint64_t where; /* communicator and peer or root, as in a record of the log; 0: not known */
    int32_t tag;    /* as there; of a collective which one of its communicator it is, from 1 on */
    uint32_t entered;
} ix_awaited;

/* The calls of one site that found nothing. */
typedef struct ix_polled_site {
    const void *address;
    uint64_t key;     /* operation and section; 0: none */
    int64_t since_ns; /* CALL_ENTER of the first */
    int64_t call_ns;  /* in them */
    int64_t calls;    /* their number */
} ix_polled_site;

/* Further sites whose calls are told where a program looks at several in turn. */
#define IX_POLLED_SITES 7

/* Calls that found nothing, one behind the other: see IX_LOG_POLLS. Of the site of the last one
 * `call_ns` and `calls` are the thread's without those that `site` stands for. */
typedef struct ix_polls {
    ix_polled_site site;
    int64_t last;        /* number of the last one among the thread's calls, and the thread's at */
    int64_t compute_ns;  /* its CALL_ENTER */
    int64_t began_ns;    /* the thread's call time when the first of all was entered, */
    int64_t paused_ns;   /* and its pauses */
    uint32_t makes_room; /* of `further`: the next that is forgotten for another */
    ix_polled_site further[IX_POLLED_SITES];
} ix_polls;

/* It lies in the part, where the fields up to `state` are an ix_part_standing. By lines of the
 * cache: what each call stores to; what each reads; what it began and ended; the rest. */
struct ix_thread {
    _Alignas(64) int64_t last_ns; /* the last CALL_ENTER or CALL_EXIT */
    int64_t compute_ns, call_ns;  /* since the thread was attached */
    const void *address;          /* of the call in progress: the call site */
    union {
        uint64_t key; /* of the call in progress: operation, section and the bits above */
        uint16_t operation;
    };
    uint32_t state; /* the bits above */
    uint32_t frame; /* low half of the end of the frame of the call in progress; 0: not told */
    ix_row *row;    /* of the first transfer that the call began; NULL: of none; IX_ROW_TO_FIND */
    uint8_t muted;  /* paused, or the engine stopped: boundaries take the slow way */
    uint8_t unrecorded;        /* the call in progress was entered while muted */
    uint32_t exposed_at_enter; /* engine's */

    int64_t paused_ns;        /* as compute_ns */
    uint64_t measured_epoch;  /* as epoch; UINT64_MAX while muted */
    uint64_t context;         /* the key but for the operation */
    uint64_t closed_at_enter; /* engine's closed_ns */
    int64_t moving_until_ns;  /* engine's, at CALL_ENTER */
    ix_part_thread *part;
    uint64_t debt_paid_ns;
    char *plans;

    struct ix_slot *finished; /* the first of the transfers whose requests this call completed */
    int32_t site;             /* of the call in progress, -1: not looked up yet */
    uint32_t own_count;
    int64_t moving_min_ns;  /* what must have moved in this call */
    int64_t outside_ns;     /* what may have moved outside of what ends in this call */
    uint64_t begun_here_ns; /* begun by this call, where threads call at the same time */
    uint32_t plan_mask;     /* which bits of a hash are the offset of a plan, in bytes */
    int8_t first_class;
    uint8_t first_path;
    uint16_t section;

    struct ix_plan *home; /* where a plan of the call in progress would be */

    _Alignas(64) ix_log_thread log;
    ix_awaited awaited; /* in the line that the end of the call stores to */

    uint32_t slot;          /* in the table of threads */
    uint64_t epoch;         /* of the engine, as last seen */
    uint32_t unloaded;      /* the engine's, when what is kept by address was last forgotten */
    int64_t paused_seen_ns; /* the engine's pauses up to last_ns */
    int64_t seen_ns;        /* the last end that a source has timed */
    ix_polls polls;
    ix_row *rows;
    uint32_t *row_index;
    uint32_t row_mask, row_capacity, row_used;
    const char *stack_low, *stack_high; /* of the thread's own stack; NULL: not asked yet */
    uint32_t section_depth;
    uint32_t section_overflow; /* how many more are open than there is room for */
    uint16_t section_stack[IX_SECTION_DEPTH];
    const ix_descriptor *own[IX_OWN_MAX]; /* transfers that begin and end with this call */
    ix_descriptor own_room[IX_OWN_MAX];   /* for those that no plan describes */
    ix_descriptor described;              /* the last one that no plan describes */
};

/* A row that is known only by first_path and first_class. */
#define IX_ROW_TO_FIND ((ix_row *)1)

/* What all threads share and ix_enter reads. */
typedef struct ix_shared {
    _Atomic uint64_t epoch;          /* changes when measuring pauses, resumes or stops, or an image
                                      * with call sites is unloaded; odd: changing */
    _Atomic uint64_t begun_ns;       /* X_hi of all transfers ever begun, modulo 2^64 */
    _Atomic uint64_t closed_ns;      /* of those that ended */
    _Atomic int64_t moving_until_ns; /* completed sends may still be leaving until then */
    _Atomic uint64_t debt_ns; /* what may have moved outside begin and end: see theory.md, Wait */
    _Atomic uint32_t exposed; /* windows open to others */
    _Atomic int32_t needing;  /* open transfers that move only while somebody is inside MPI, but for
                               * those that a progress thread saw complete */
    _Atomic int32_t needing_rounds; /* collectives among those that are open */
    _Atomic int unseen;             /* there is a thread of the program for which was no room */
    int concurrent;                 /* threads call at the same time */
} ix_shared;

extern IX_HIDDEN ix_shared ix_share;
extern IX_HIDDEN __thread ix_thread *ix_self;

IX_HIDDEN IX_COLD ix_thread *ix_attach(void);
IX_HIDDEN void ix_enter_slow(ix_thread *t, int64_t now);

/* ix_enter_from, of a thread that is in a call, or new, or whose clock is not the counter. */
IX_HIDDEN ix_thread *ix_enter_by_state(uint32_t operation, const void *site, const char *frame);

/* Enter the site of the call just entered into the part, if it is new, so that it is known of a
 * call that never returns. Of addresses in images a reader finds it by itself. */
IX_HIDDEN void ix_enter_site(ix_thread *t);

/* Whether the call that this thread is in was left without returning, by longjmp or an exception:
 * then it is over, and the one just entered is the outermost. */
IX_HIDDEN IX_COLD int ix_was_abandoned(ix_thread *t, const char *frame);

/* After so much computation the cache may have lost what the end of a call needs: prefetch it. */
#define IX_COOLING_NS 1000
IX_HIDDEN void ix_prefetch(ix_thread *t);

/* The plan at a hash, of which the upper half is good. */
static inline IX_ALWAYS struct ix_plan *ix_plan_at(const ix_thread *t, uint32_t hash)
{
    return (struct ix_plan *)(void *)(t->plans + (hash >> 17 & t->plan_mask));
}

/* The one of a call site: plans.h. */
static inline IX_ALWAYS struct ix_plan *ix_plan_home(const ix_thread *t, const void *address)
{
    return ix_plan_at(t, (uint32_t)(uintptr_t)address * UINT32_C(0x9e3779b1));
}

static inline uint32_t ix_depth(const ix_thread *t)
{
    return t->state & IX_DEPTH;
}

static inline int ix_is_off(const ix_thread *t)
{
    return (t->state & IX_OFF) != 0;
}

/* At the end of this call there is more to do than to count it. */
static inline IX_ALWAYS void ix_to_settle(ix_thread *t)
{
    t->state |= IX_SETTLES;
}

/* CALL_ENTER of a call that is not within another. */
static inline IX_ALWAYS void ix_enter_outermost(ix_thread *t, uint32_t operation, const void *site,
                                                const char *frame, int by_counter)
{
    t->frame = (uint32_t)(uintptr_t)frame;
    t->key = t->context | operation;
    t->address = site;
    t->home = ix_plan_home(t, site);
    t->closed_at_enter = atomic_load_explicit(&ix_share.closed_ns, memory_order_acquire);
    t->moving_until_ns = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    t->exposed_at_enter = atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    int64_t now = by_counter ? ix_now_counter() : ix_now();
    if (IX_UNLIKELY(t->measured_epoch !=
                    atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))) {
        ix_enter_slow(t, now);
        return;
    }
    int64_t computed = now - t->last_ns;
    t->compute_ns += computed;
    t->last_ns = now;
    if (computed > IX_COOLING_NS)
        ix_prefetch(t);
}

typedef ix_thread *ix_enter_function(uint32_t operation, const void *site, const char *frame);

/* CALL_ENTER, of a call that its callbacks may leave without returning. `otherwise` does it where
 * the thread's state asks for more, or the thread is new. */
static inline IX_ALWAYS ix_thread *ix_enter_or(uint32_t operation, const void *site,
                                               const char *frame, ix_enter_function *otherwise)
{
    ix_thread *t = ix_self;
    if (IX_UNLIKELY(!t || t->state))
        return otherwise(operation, site, frame);
    t->state = 1;
    ix_enter_outermost(t, operation, site, frame, 1);
    return t;
}

static inline IX_ALWAYS ix_thread *ix_enter_from(uint32_t operation, const void *site,
                                                 const char *frame)
{
    return ix_enter_or(operation, site, frame, ix_enter_by_state);
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
    return t && (t->state & (IX_DEPTH | IX_OFF)) == 1;
}

/* In a call, and the engine runs. */
static inline int ix_in_call(const ix_thread *t)
{
    return t && ix_depth(t) && !ix_is_off(t);
}

#endif
