/* The end of the usual transfer, in line: what ix_close adds where nothing is special. */
#ifndef IMBREX_USUAL_H
#define IMBREX_USUAL_H

#include "bounds.h"
#include "internal.h"

/* Sends that completed may still be leaving until then. */
static inline void ix_raise_moving_until(int64_t until)
{
    int64_t known = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    if (until <= known)
        return;
    if (!ix_engine.concurrent) {
        atomic_store_explicit(&ix_share.moving_until_ns, until, memory_order_relaxed);
        return;
    }
    while (until > known &&
           !atomic_compare_exchange_weak_explicit(&ix_share.moving_until_ns, &known, until,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* 1: closed. 0: nothing was done, ix_close is to do it. A known row means: of this thread's rows,
 * more than 0 bytes, no collective. The cases are those of ix_close, in its order. */
static inline IX_ALWAYS int ix_close_usual(ix_thread *t, const ix_open *open, const ix_end *end)
{
    const ix_what *what = &open->what;
    ix_row *row = what->row;
    if (IX_UNLIKELY(!row || open->thread != t || !what->time.calibrated ||
                    what->silent | what->unsized | what->unknown_end))
        return 0;
    int64_t x_lo = what->time.x_lo_ns, x_hi = what->time.x_hi_ns, slack = 0;
    if (what->slack == IX_SLACK_TAIL)
        slack = what->time.tail_ns;
    else if (what->slack == IX_SLACK_HEAD)
        slack = what->time.head_ns;
    else if (IX_UNLIKELY(what->slack == IX_SLACK_UNKNOWN))
        return 0;
    if (IX_UNLIKELY(slack == IX_UNKNOWN))
        return 0;
    if (what->slack != IX_SLACK_TAIL)
        t->outside_ns += ix_least(slack, x_hi);
    else if (slack > 0)
        ix_raise_moving_until(end->time_ns + slack);
    ix_add(&ix_share.closed_ns, (uint64_t)what->open_ns);
    t->touched = 1;
    int64_t compute = end->compute_ns - open->compute0_ns;
    int64_t call = end->call_ns - open->call0_ns;
    ix_bounds b = ix_bound(x_lo, x_hi, compute, call, slack + end->paused_ns - open->paused0_ns);
    t->moving_min_ns =
        ix_most(t->moving_min_ns, b.exposed_min_ns - call + ix_least(call, end->in_call_ns));
    row->transfers++;
    row->bytes += what->bytes;
    row->transfer_min_ns += x_lo;
    row->transfer_max_ns += x_hi;
    row->overlap_min_ns += b.overlap_min_ns;
    row->overlap_max_ns += b.overlap_max_ns;
    row->exposed_min_ns += b.exposed_min_ns;
    row->exposed_max_ns += b.exposed_max_ns;
    if (IX_UNLIKELY(b.undetermined | b.contradicted)) {
        row->undetermined += b.undetermined;
        row->contradicted += b.contradicted;
    }
    return 1;
}

#endif
