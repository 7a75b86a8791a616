/* What the end of a transfer adds. In line, so that the resolved transfer, of which all is known,
 * and any other (ix_close) are counted by the same lines. */
#ifndef IMBREX_CORE_CLOSING_H
#define IMBREX_CORE_CLOSING_H

#include "core/transfers.h"

/* What transfers that end at one time add to what the thread and the engine know: added once. */
typedef struct ix_settlement {
    uint64_t open_ns;      /* to the engine's closed_ns */
    int64_t tail_ns;       /* for how long sends among them may still be leaving */
    int64_t outside_ns;    /* to the thread's */
    int64_t moving_min_ns; /* the thread's is at least this */
} ix_settlement;

/* Sends that completed may still be leaving until then. */
static inline IX_ALWAYS void ix_raise_moving_until(int64_t until, int concurrent)
{
    int64_t known = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    if (until <= known)
        return;
    if (IX_LIKELY(!concurrent)) {
        atomic_store_explicit(&ix_share.moving_until_ns, until, memory_order_relaxed);
        return;
    }
    while (until > known &&
           !atomic_compare_exchange_weak_explicit(&ix_share.moving_until_ns, &known, until,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* What other calls must know of them: theory.md, "Wait". */
static inline IX_ALWAYS void ix_settle_with_engine(const ix_settlement *ended, int64_t end_ns,
                                                   int concurrent)
{
    if (ended->tail_ns > 0)
        ix_raise_moving_until(end_ns + ended->tail_ns, concurrent);
    ix_add_if(concurrent, &ix_share.closed_ns, ended->open_ns);
}

static inline IX_ALWAYS void ix_note_outside(ix_settlement *ended, const ix_descriptor *d,
                                             int resolved, int64_t slack_ns)
{
    if (d->slack == IX_SLACK_TAIL && (resolved || d->tail_ns != IX_UNKNOWN)) {
        ended->tail_ns = ix_most(ended->tail_ns, slack_ns);
    } else if (resolved) {
        ended->outside_ns += ix_least(slack_ns, d->x_hi_ns);
    } else if (d->calibrated) {
        int apart = d->slack == IX_SLACK_UNKNOWN && d->flags & IX_COLLECTIVE;
        ended->outside_ns += apart ? d->most_ns : ix_least(slack_ns, d->x_hi_ns);
    }
    ended->open_ns += (uint64_t)d->open_ns;
    if (IX_UNLIKELY(d->flags & IX_NEEDS_PROGRESS))
        ix_count_needing(d, -1);
}

/* The bounds of a transfer with compute and call time of this thread between begin and end.
 * in_call_ns: of the call time, what passed in this call. */
static inline IX_ALWAYS ix_bounds ix_bound_here(ix_settlement *ended, const ix_descriptor *d,
                                                int64_t compute_ns, int64_t call_ns,
                                                int64_t slack_ns, int64_t in_call_ns)
{
    ix_bounds b = ix_bound(d->x_lo_ns, d->x_hi_ns, compute_ns, call_ns, slack_ns);
    /* what does not fit into the call time before this call moved in it */
    int64_t here_ns = ix_least(call_ns, in_call_ns);
    ended->moving_min_ns = ix_most(ended->moving_min_ns, b.exposed_min_ns - (call_ns - here_ns));
    return b;
}

static inline IX_ALWAYS void ix_add_to_row(ix_row *row, const ix_descriptor *d, int64_t bytes,
                                           const ix_bounds *b)
{
    row->transfers++;
    row->bytes += bytes;
    row->transfer_min_ns += d->x_lo_ns;
    row->transfer_max_ns += d->x_hi_ns;
    row->overlap_min_ns += b->overlap_min_ns;
    row->overlap_max_ns += b->overlap_max_ns;
    row->exposed_min_ns += b->exposed_min_ns;
    row->exposed_max_ns += b->exposed_max_ns;
    if (b->undetermined)
        row->undetermined++;
    if (IX_UNLIKELY(b->contradicted))
        row->contradicted++;
}

/* The end of a resolved transfer that began so long ago by the clocks of this thread. */
static inline IX_ALWAYS void ix_close_resolved(ix_settlement *ended, const ix_descriptor *d,
                                               int64_t compute_ns, int64_t call_ns,
                                               int64_t paused_ns, int64_t in_call_ns)
{
    ix_note_outside(ended, d, 1, d->slack_ns);
    if (IX_UNLIKELY(d->flags & IX_UNCOUNTED))
        return;
    ix_bounds b = ix_bound_here(ended, d, compute_ns, call_ns, d->slack_ns + paused_ns, in_call_ns);
    ix_add_to_row(d->row, d, d->bytes, &b);
}

#endif
