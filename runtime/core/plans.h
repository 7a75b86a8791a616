/* The plan of a call site: what its next call will need if it does what one did before. A plan is
 * found by the return address, operation and section, and by the transfer that the call begins (or
 * none), so that the repeated case is one look-up and one comparison; everything else is looked up
 * in the tables that all threads share and then kept here. Each thread has its own.
 *
 * A plan may be in two places: at the home of its call site, where the newest one is, and at one
 * that depends on the transfer too, where a site that sends messages of several sizes keeps the
 * others. */
#ifndef IMBREX_CORE_PLANS_H
#define IMBREX_CORE_PLANS_H

#include "core/internal.h"

typedef struct ix_plan {
    const void *address; /* of the call site */
    uint64_t key;        /* as of the thread's call, IX_KEY_MOVES; 0: empty */
    ix_packed packed;
    ix_row *row;            /* in which a call without a transfer is counted; NULL: with one */
    ix_descriptor transfer; /* bytes 0: none; then only its site is set */
} ix_plan;
_Static_assert(sizeof(ix_plan) == 128, "two lines of the cache");

enum { IX_MAIN_PLANS = 256, IX_THREAD_PLANS = 32 };

static inline uint64_t ix_scatter(uint64_t value)
{
    return value * 0x9e3779b97f4a7c15u;
}

static inline uint32_t ix_plan_mask(uint32_t plans)
{
    return (plans - 1) * (uint32_t)sizeof(ix_plan);
}

/* Of this call and one transfer. */
static inline int ix_is_plan(const ix_thread *t, const ix_plan *p, int64_t bytes, ix_packed packed)
{
    return p->address == t->address && p->key == (t->key | IX_KEY_MOVES) && p->packed == packed &&
           p->transfer.bytes == bytes;
}

/* Of this call without a transfer. */
static inline int ix_is_plain_plan(const ix_thread *t, const ix_plan *p)
{
    return p->address == t->address && p->key == t->key;
}

/* The plan of this call and transfer (0, 0: none) at its second place; NULL if it is not there. */
IX_HIDDEN ix_plan *ix_plan_elsewhere(const ix_thread *t, int64_t bytes, ix_packed packed);

/* A new plan for this call and transfer, in the place of one that was used less lately. NULL where
 * the call in progress itself uses the plans in both places. */
IX_HIDDEN ix_plan *ix_plan_new(ix_thread *t, int64_t bytes, ix_packed packed);

/* Number of the call site of the call in progress. */
IX_HIDDEN int32_t ix_call_site(ix_thread *t);

/* Forget plans: an image was unloaded and addresses may mean other call sites, or there is another
 * table of transfer times or another source. */
IX_HIDDEN void ix_plans_forget(ix_thread *t);
IX_HIDDEN void ix_plans_forget_all(void);

#endif
