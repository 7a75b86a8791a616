/* One transfer from its begin to its row. */
#ifndef IMBREX_CORE_TRANSFERS_H
#define IMBREX_CORE_TRANSFERS_H

#include "core/needing.h"
#include "core/plans.h"

/* The end of a transfer, by the clocks of the thread that saw it. */
typedef struct ix_end {
    ix_clocks clocks;   /* the thread's at the end */
    int64_t in_call_ns; /* call time of the call in progress up to the end, if it is recorded */
    int64_t time_ns;
} ix_end;

static inline ix_clocks ix_clocks_of(const ix_thread *t)
{
    return (ix_clocks){t->compute_ns, t->call_ns, t->paused_ns};
}

static inline ix_clocks ix_clocks_since(const ix_clocks *begin, ix_clocks end)
{
    return (ix_clocks){end.compute_ns - begin->compute_ns, end.call_ns - begin->call_ns,
                       end.paused_ns - begin->paused_ns};
}

/* What a transfer is that begins now, worked out and kept as a plan where that is worth it. Good
 * until the next one; NULL: what a call begins moves nothing. */
IX_HIDDEN const ix_descriptor *ix_describe(ix_thread *t, int64_t bytes, ix_packed packed);

/* The same, from the plan of the call site where there is one. */
static inline IX_ALWAYS const ix_descriptor *ix_descriptor_of(ix_thread *t, int64_t bytes,
                                                              ix_packed packed)
{
    const ix_plan *p = t->home;
    return IX_LIKELY(ix_is_plan(t, p, bytes, packed)) ? &p->transfer
                                                      : ix_describe(t, bytes, packed);
}

/* `concurrent`: threads call at the same time, as ix_share says, for who has asked it already. */
static inline IX_ALWAYS void ix_count_begin_if(int concurrent, ix_thread *t, const ix_descriptor *d)
{
    uint64_t open_ns = (uint64_t)d->open_ns;
    if (IX_UNLIKELY(d->flags & IX_NEEDS_PROGRESS))
        ix_count_needing(d, 1);
    if (IX_UNLIKELY(concurrent)) {
        atomic_fetch_add_explicit(&ix_share.begun_ns, open_ns, memory_order_acq_rel);
        t->begun_here_ns += open_ns;
        ix_to_settle(t); /* what it begins it owes */
        return;
    }
    uint64_t begun = atomic_load_explicit(&ix_share.begun_ns, memory_order_relaxed);
    atomic_store_explicit(&ix_share.begun_ns, begun + open_ns, memory_order_relaxed);
}

static inline void ix_count_begin(ix_thread *t, const ix_descriptor *d)
{
    ix_count_begin_if(ix_share.concurrent, t, d);
}

/* Which row a call is counted in: that of the first transfer it began. */
static inline IX_ALWAYS void ix_note_first(ix_thread *t, const ix_descriptor *d)
{
    if (IX_UNLIKELY(t->row))
        return;
    if (IX_LIKELY(d->row)) {
        t->row = d->row;
    } else if (!(d->flags & IX_UNCOUNTED) && d->path != IX_PATH_ANY) {
        t->row = IX_ROW_TO_FIND;
        t->first_class = (int8_t)ix_size_class(d->bytes);
        t->first_path = d->path;
        ix_to_settle(t);
    }
}

/* Copied in pieces that compilers move in place; as a whole they call memcpy. */
static inline IX_ALWAYS void ix_copy_descriptor(ix_descriptor *to, const ix_descriptor *from)
{
    memcpy(to, from, 48);
    memcpy((char *)to + 48, (const char *)from + 48, sizeof *to - 48);
}

/* A transfer begins in the call in progress, at its CALL_ENTER. */
static inline IX_ALWAYS void ix_open_in_call_if(int concurrent, ix_thread *t,
                                                const ix_descriptor *d, ix_open *open)
{
    open->begin = ix_clocks_of(t);
    __atomic_store_n(&open->thread, t, __ATOMIC_RELAXED); /* see rather_mine */
    ix_copy_descriptor(&open->descriptor, d);
    ix_count_begin_if(concurrent, t, d);
    ix_note_first(t, d);
}

static inline IX_ALWAYS void ix_open_in_call(ix_thread *t, const ix_descriptor *d, ix_open *open)
{
    ix_open_in_call_if(ix_share.concurrent, t, d, open);
}

/* What the status of a completed receive says. */
IX_HIDDEN void ix_received(ix_open *open, int64_t bytes, int path);

/* The end of any transfer, and one that will not be seen: freed, cancelled, no room. */
IX_HIDDEN void ix_close(ix_thread *t, ix_open *open, const ix_end *end);
IX_HIDDEN void ix_close_unknown(ix_thread *t, ix_open *open);

/* The slack of a transfer whose end has this one. */
IX_HIDDEN void ix_widen_slack(ix_descriptor *d, uint8_t slack);

#endif
