/* What the end of a transfer adds. In line, so that the usual transfer, of which all is known, and
 * any other (ix_close) are counted by the same lines. */
#ifndef IMBREX_CLOSE_H
#define IMBREX_CLOSE_H

#include "bounds.h"
#include "internal.h"

/* Sends that completed may still be leaving until then. */
static inline IX_ALWAYS void ix_raise_moving_until(int64_t until)
{
    int64_t known = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    if (until <= known)
        return;
    if (IX_LIKELY(!ix_engine.concurrent)) {
        atomic_store_explicit(&ix_share.moving_until_ns, until, memory_order_relaxed);
        return;
    }
    while (until > known &&
           !atomic_compare_exchange_weak_explicit(&ix_share.moving_until_ns, &known, until,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* What later and earlier calls must know of a transfer that ended: theory.md, "Wait". */
static inline IX_ALWAYS void ix_leave_behind(ix_thread *t, const ix_what *what, int usual,
                                             int64_t slack, int64_t end_ns)
{
    if (what->slack == IX_SLACK_TAIL && (usual || what->time.tail_ns != IX_UNKNOWN)) {
        if (slack > 0)
            ix_raise_moving_until(end_ns + slack);
    } else if (usual) {
        t->outside_ns += ix_least(slack, what->time.x_hi_ns);
    } else if (what->time.calibrated) {
        int apart = what->slack == IX_SLACK_UNKNOWN && what->flags & IX_COLLECTIVE;
        t->outside_ns += apart ? what->time.most_ns : ix_least(slack, what->time.x_hi_ns);
    }
    ix_add(&ix_share.closed_ns, (uint64_t)what->open_ns);
    t->touched |= IX_ENDED;
}

/* The bounds of a transfer with compute and call time of this thread between begin and end.
 * in_call_ns: of the call time, what passed in this call. */
static inline IX_ALWAYS ix_bounds ix_bound_here(ix_thread *t, const ix_time *time, int64_t compute,
                                                int64_t call, int64_t slack, int64_t in_call_ns)
{
    ix_bounds b = ix_bound(time->x_lo_ns, time->x_hi_ns, compute, call, slack);
    /* what does not fit into the call time before this call moved in it */
    int64_t here = ix_least(call, in_call_ns);
    t->moving_min_ns = ix_most(t->moving_min_ns, b.exposed_min_ns - (call - here));
    return b;
}

static inline IX_ALWAYS void ix_add_to_row(ix_row *row, const ix_what *what, int64_t bytes,
                                           const ix_bounds *b)
{
    row->transfers++;
    row->bytes += bytes;
    row->transfer_min_ns += what->time.x_lo_ns;
    row->transfer_max_ns += what->time.x_hi_ns;
    row->overlap_min_ns += b->overlap_min_ns;
    row->overlap_max_ns += b->overlap_max_ns;
    row->exposed_min_ns += b->exposed_min_ns;
    row->exposed_max_ns += b->exposed_max_ns;
    if (IX_UNLIKELY(b->undetermined | b->contradicted)) {
        row->undetermined += b->undetermined;
        row->contradicted += b->contradicted;
    }
}

static inline IX_ALWAYS int64_t ix_usual_slack(const ix_what *what)
{
    if (what->slack == IX_SLACK_TAIL)
        return what->time.tail_ns;
    return what->slack == IX_SLACK_HEAD ? what->time.head_ns : 0;
}

/* A usual transfer whose begin is this long ago, by the clocks of this thread. */
static inline IX_ALWAYS void ix_close_usual(ix_thread *t, const ix_what *what, int64_t compute,
                                            int64_t call, int64_t paused, int64_t in_call_ns,
                                            int64_t end_ns)
{
    int64_t slack = ix_usual_slack(what);
    ix_leave_behind(t, what, 1, slack, end_ns);
    if (what->silent)
        return;
    ix_bounds b = ix_bound_here(t, &what->time, compute, call, slack + paused, in_call_ns);
    ix_add_to_row(what->row, what, what->bytes, &b);
}

#endif
