/* How much of a call was waiting: docs/theory/measuring.md, "Wait". */
#ifndef IMBREX_CORE_WAIT_H
#define IMBREX_CORE_WAIT_H

#include "core/internal.h"

/* How long in this call, at most, data may have moved: of transfers open at any time in it and of
 * sends that had completed before. Branches, which processors foresee, where arithmetic would make
 * all that follows wait for the counter. */
static inline IX_ALWAYS uint64_t ix_may_have_moved(const ix_thread *t, int64_t entered, int64_t now)
{
    uint64_t moved =
        atomic_load_explicit(&ix_share.begun_ns, memory_order_acquire) - t->closed_at_enter;
    if (IX_UNLIKELY(t->moving_until_ns > entered))
        moved += (uint64_t)(ix_least(now, t->moving_until_ns) - entered);
    return moved;
}

static inline void ix_owe(ix_thread *t, uint64_t debt_ns, uint64_t own_share_ns, int concurrent)
{
    ix_add_if(concurrent, &ix_share.debt_ns, debt_ns);
    t->debt_paid_ns += debt_ns - own_share_ns;
}

/* What may have moved outside of what ended in this call is owed by earlier calls, of any thread:
 * less what this call itself leaves open to it. */
static inline void ix_incur_debt(ix_thread *t, uint64_t outside, int64_t dt, uint64_t moved,
                                 int concurrent)
{
    uint64_t uncovered = moved > (uint64_t)dt ? moved - (uint64_t)dt : 0;
    if (outside)
        ix_owe(t, outside, outside < uncovered ? outside : uncovered, concurrent);
    if (IX_UNLIKELY(concurrent)) /* ended calls of other threads did not know of them */
        ix_owe(t, t->begun_here_ns < (uint64_t)dt ? t->begun_here_ns : (uint64_t)dt, 0, concurrent);
}

/* What is left of a wait when it has paid what is owed. */
static inline IX_ALWAYS int64_t ix_pay_debt(ix_thread *t, int64_t wait)
{
    uint64_t owed = atomic_load_explicit(&ix_share.debt_ns, memory_order_relaxed) - t->debt_paid_ns;
    if (IX_LIKELY(!owed))
        return wait;
    uint64_t paid = owed < (uint64_t)wait ? owed : (uint64_t)wait;
    t->debt_paid_ns += paid;
    return wait - (int64_t)paid;
}

#endif
