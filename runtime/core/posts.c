/* Transfers as an event source inside the library shows them: begin and end with times of their
 * own. */
#include "core/closing.h"
#include "core/slots.h"

/* Clocks of this thread at `time_ns`, which is not in the future. */
static inline ix_end at(const ix_thread *t, int64_t time_ns)
{
    int64_t since = ix_most(0, time_ns - t->last_ns);
    int in_call = ix_depth(t) > 0 && !t->unrecorded;
    ix_end end = {ix_clocks_of(t), 0, time_ns};
    if (t->muted || t->unrecorded) {
        end.clocks.paused_ns += since;
    } else if (in_call) {
        end.clocks.call_ns += since;
        end.in_call_ns = since;
    } else {
        end.clocks.compute_ns += since;
    }
    return end;
}

/* Another thread paused or resumed since this one's last boundary: its clocks are stale. */
static int stale(ix_thread *t)
{
    if (t->epoch == atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))
        return 0;
    if (ix_depth(t))
        return 1;
    t->compute_ns += ix_unpaused(t, ix_now());
    return 0;
}

/* After a begin or an end outside calls: the next call has nothing to do with it, and no call
 * covers what may have moved outside. */
static void settle_outside_calls(ix_thread *t)
{
    if (ix_depth(t))
        return;
    if (t->outside_ns)
        ix_add(&ix_share.debt_ns, (uint64_t)t->outside_ns);
    t->outside_ns = 0;
    t->moving_min_ns = 0;
    t->begun_here_ns = 0;
    t->state &= ~IX_SETTLES;
}

/* A plan of its own, apart from those of transfers that calls begin. Where the clocks are stale it
 * is not known when the transfer began. */
static ix_packed pack_posted(const ix_transfer *transfer, enum ix_source source, int is_stale)
{
    ix_transfer x = *transfer;
    if (is_stale)
        x.slack = IX_SLACK_UNKNOWN;
    return ix_pack(&x) | UINT64_C(1) << IX_PACKED_POSTED | (ix_packed)source << IX_PACKED_SOURCE;
}

uint32_t ix_post(ix_thread *t, const ix_transfer *transfer, int64_t time_ns, enum ix_source source)
{
    if (!t || transfer->bytes <= 0 || transfer->path == IX_PATH_NONE)
        return 0;
    int is_stale = stale(t);
    if (ix_is_off(t))
        return 0;
    ix_slot *s = ix_slot_reserve_any();
    ix_open none, *open = s ? &s->open : &none;
    open->begin = at(t, time_ns).clocks;
    ix_packed packed = pack_posted(transfer, source, is_stale);
    const ix_descriptor *d = ix_depth(t) ? ix_descriptor_of(t, transfer->bytes, packed)
                                         : ix_describe(t, transfer->bytes, packed);
    __atomic_store_n(&open->thread, t, __ATOMIC_RELAXED);
    ix_copy_descriptor(&open->descriptor, d);
    ix_count_begin(t, d);
    if (!s)
        ix_close_unknown(t, open);
    settle_outside_calls(t);
    return s ? (uint32_t)(s - ix_table.slots) + 1 : 0;
}

/* The poorer of two sources names the row: it is not the one that the begin knew. */
static void name_poorer_source(ix_descriptor *d, enum ix_source source)
{
    if (source >= d->source)
        return;
    d->source = (uint8_t)source;
    d->row = NULL;
    d->flags &= (uint8_t)~IX_RESOLVED;
}

/* Whether it is counted was decided when it was posted; the size that came does not change that. */
static void receive_posted(ix_open *open, int64_t bytes, int path)
{
    uint8_t uncounted = open->descriptor.flags & IX_UNCOUNTED;
    ix_received(open, bytes, path);
    open->descriptor.flags = (uint8_t)((open->descriptor.flags & ~IX_UNCOUNTED) | uncounted);
}

static void close_posted(ix_thread *t, ix_slot *s, const ix_end *end)
{
    if (s->open.descriptor.flags & IX_UP_TO)
        ix_close_unknown(t, &s->open);
    else
        ix_close(t, &s->open, end);
    ix_slot_release_any(s);
    settle_outside_calls(t);
}

/* As it was posted, and seen by the thread that posted it. */
static int is_as_posted(const ix_thread *t, const ix_open *open, int64_t bytes, enum ix_slack slack,
                        enum ix_source source)
{
    const ix_descriptor *d = &open->descriptor;
    int sized = bytes == d->bytes || (bytes == IX_AS_POSTED && !(d->flags & IX_UP_TO));
    return d->flags & IX_RESOLVED && open->thread == t && sized && source >= d->source &&
           (slack == IX_SLACK_NONE || slack == d->slack);
}

void ix_complete(ix_thread *t, uint32_t token, int64_t time_ns, int64_t bytes, enum ix_slack slack,
                 enum ix_source source)
{
    if (!t || !token || ix_is_off(t))
        return;
    ix_slot *s = ix_table.slots + token - 1;
    ix_descriptor *d = &s->open.descriptor;
    if (IX_UNLIKELY(stale(t)))
        slack = IX_SLACK_UNKNOWN;
    ix_end end = at(t, time_ns);
    t->seen_ns = time_ns;
    if (IX_LIKELY(is_as_posted(t, &s->open, bytes, slack, source))) {
        d->flags &= (uint8_t)~IX_UP_TO;
    } else {
        ix_widen_slack(d, (uint8_t)slack);
        name_poorer_source(d, source);
        receive_posted(&s->open, bytes, IX_AS_POSTED);
    }
    close_posted(t, s, &end);
}

ix_moment ix_moment_at(ix_thread *t, int64_t time_ns)
{
    if (!t)
        return (ix_moment){.unsure = 1};
    int unsure = stale(t);
    ix_end end = at(t, time_ns);
    return (ix_moment){t, end.clocks, end.in_call_ns, time_ns, unsure};
}

static void forget_slack(ix_descriptor *d)
{
    d->slack = IX_SLACK_UNKNOWN;
    d->flags &= (uint8_t)~IX_RESOLVED;
}

void ix_begin_later(ix_thread *t, uint32_t token, int64_t time_ns)
{
    if (!t || !token || ix_is_off(t))
        return;
    ix_open *open = &ix_table.slots[token - 1].open;
    if (open->thread != t)
        return;
    if (stale(t))
        forget_slack(&open->descriptor);
    else
        open->begin = at(t, time_ns).clocks;
}

void ix_complete_then(ix_thread *t, uint32_t token, const ix_moment *end, int64_t bytes, int path,
                      enum ix_slack slack, enum ix_source source)
{
    if (!t || !token || ix_is_off(t))
        return;
    ix_slot *s = ix_table.slots + token - 1;
    ix_open *open = &s->open;
    ix_descriptor *d = &open->descriptor;
    if (end->unsure || end->thread != open->thread) {
        slack = IX_SLACK_UNKNOWN;
        open->thread = NULL; /* the clocks of begin and end are not the same */
    }
    ix_widen_slack(d, (uint8_t)slack);
    name_poorer_source(d, source);
    receive_posted(open, bytes, path);
    /* a wildcard receive turns out to be on a path that the calls see */
    if (!(d->path <= IX_PATH_INTER && ix_engine.source_paths >> d->path & 1))
        d->flags |= IX_UNCOUNTED;
    int here = end->thread == t && end->time_ns >= t->last_ns;
    ix_end then = {end->clocks, here ? end->in_call_ns : 0, end->time_ns};
    close_posted(t, s, &then);
}

/* An event source saw inside the library that a transfer is over which a call had begun. */

static ix_slot *single_slot(uint64_t key)
{
    ix_slot *s = ix_slot_find(key);
    return s && !ix_is_marked(s, IX_PERSISTENT | IX_DUPLICATE) ? s : NULL;
}

static uint64_t sequence_of(const ix_slot *s)
{
    return atomic_load_explicit(&s->sequence, memory_order_relaxed) + 1;
}

uint64_t ix_sequence_of(const ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_outermost(t) ? single_slot(ix_request_key(handle)) : NULL;
    return s ? sequence_of(s) : 0;
}

void ix_finish_early(ix_thread *t, uint64_t handle, uint64_t sequence, int64_t time_ns)
{
    if (!t || !sequence || ix_is_off(t))
        return;
    uint64_t key = ix_request_key(handle);
    ix_slot *s = single_slot(key);
    if (!s || sequence_of(s) != sequence || ix_slot_take(t, key) != s)
        return;
    s->open.descriptor.slack = stale(t) ? IX_SLACK_UNKNOWN : IX_SLACK_NONE;
    s->open.descriptor.flags &= (uint8_t)~IX_RESOLVED;
    ix_end end = at(t, time_ns);
    ix_close(t, &s->open, &end);
    ix_slot_release(s);
    settle_outside_calls(t);
}
