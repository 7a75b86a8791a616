/* The helper thread: it sleeps until something is open that needs progress, and looks while it is
 * and no thread of the program is inside MPI. Knows nothing of MPI: what is open and what a look is
 * are given, so that it is tested without.
 *
 * A look and a call of the program exclude each other: a thread that enters MPI waits until the
 * look at hand is over (some microseconds), and no look begins before it has left. */
#ifndef IMBREX_PROGRESS_HELPER_H
#define IMBREX_PROGRESS_HELPER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/attributes.h"
#include "progress/pace.h"

typedef struct ix_helper_options {
    int (*is_needed)(void);    /* whether anything is open; from any thread */
    int (*look)(void);         /* make progress; not 0: it failed, and the helper looks no more */
    void (*moved)(int64_t ns); /* a look took so long because it moved data; by the helper */
    void (*begins)(void);      /* by the helper, first of all */
    const void *cores;         /* cpu_set_t on which it may run; NULL: those of its creator */
    ix_pace pace;
} ix_helper_options;

/* What it did. Processor times. */
typedef struct ix_helper_counts {
    int64_t looks, moving_looks;
    int64_t looking_ns, moving_ns; /* looks without movement and all around them; the others */
    int64_t interval_ns;           /* in the end */
    int64_t waits;                 /* of the program for a look to end */
    int64_t rests;
    int failed; /* what `look` returned */
} ix_helper_counts;

/* 0, or errno. */
IX_HIDDEN int ix_helper_start(const ix_helper_options *options);

/* End it, at the latest when the look at hand is over; it may be told of calls after that, and
 * started again. Without it, nothing. */
IX_HIDDEN void ix_helper_stop(void);

/* No look is begun any more, and none is at hand when this returns; or after `most_ms`, where the
 * look does not end (the process goes down, and may hold a lock that it needs). The thread stays:
 * for exit and abort. */
IX_HIDDEN void ix_helper_halt(int most_ms);

IX_HIDDEN ix_helper_counts ix_helper_counted(void);

/* Threads of the program call these at the entry and the exit of each outermost call. */

enum ix_helper_state {
    IX_HELPER_AWAY = 0,
    IX_HELPER_AWAKE = 1,
    IX_HELPER_ASLEEP = 2,
    IX_HELPER_ENDING = 3,
};

typedef struct ix_helper_shared {
    _Atomic int32_t inside;  /* threads of the program inside MPI */
    _Atomic int32_t looking; /* a look is at hand */
    _Atomic int32_t state;   /* enum ix_helper_state; threads wait for it to change */
} ix_helper_shared;

extern IX_HIDDEN ix_helper_shared ix_helper;

IX_HIDDEN IX_COLD void ix_helper_await(void);
IX_HIDDEN IX_COLD void ix_helper_wake(void);

static inline int ix_helper_is_asleep(void)
{
    return atomic_load_explicit(&ix_helper.state, memory_order_relaxed) == IX_HELPER_ASLEEP;
}

static inline void ix_helper_entered(void)
{
    atomic_fetch_add(&ix_helper.inside, 1);
    if (IX_UNLIKELY(atomic_load(&ix_helper.looking)))
        ix_helper_await();
}

static inline void ix_helper_left(int is_needed)
{
    atomic_fetch_sub(&ix_helper.inside, 1);
    if (is_needed && atomic_load(&ix_helper.state) == IX_HELPER_ASLEEP)
        ix_helper_wake();
}

#endif
