/* Transfers as an event source inside the library shows them: begin and end with times of their
 * own. */
#include "close.h"
#include "slots.h"

/* Clocks of this thread at `time_ns`, which is not in the future. */
static inline ix_end at(const ix_thread *t, int64_t time_ns)
{
    int64_t since = ix_most(0, time_ns - t->last_ns);
    int in_call = t->depth > 0 && !t->unrecorded;
    ix_end end = {t->compute_ns, t->call_ns, t->paused_ns, 0, time_ns};
    if (t->muted || t->unrecorded) {
        end.paused_ns += since;
    } else if (in_call) {
        end.call_ns += since;
        end.in_call_ns = since;
    } else {
        end.compute_ns += since;
    }
    return end;
}

/* Another thread paused or resumed since this one's last boundary: its clocks are stale. */
static int stale(ix_thread *t)
{
    if (t->epoch == atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))
        return 0;
    if (t->depth)
        return 1;
    t->compute_ns += ix_unpaused(t, ix_now());
    return 0;
}

/* After a begin or an end outside calls: the next call has nothing to do with it, and no call
 * covers what may have moved outside. */
static void outside_calls(ix_thread *t)
{
    if (t->depth)
        return;
    if (t->outside_ns)
        ix_add(&ix_share.debt_ns, (uint64_t)t->outside_ns);
    t->outside_ns = 0;
    t->moving_min_ns = 0;
    t->begun_here_ns = 0;
    t->touched = 0;
}

/* What a call at this address posted last: apart from what calls begin. */
static uint64_t posted_word(const ix_transfer *transfer, enum ix_source source)
{
    return ix_transfer_word(transfer) | UINT64_C(8) << 16 | (uint64_t)source << 20;
}

static __attribute__((noinline)) void post_anew(ix_thread *t, const ix_transfer *transfer,
                                                ix_open *open, ix_begin_entry *e, uint64_t word,
                                                enum ix_source source, int unsure)
{
    if (!t->depth)
        t->site = 0;
    ix_open_anew(t, transfer, t->operation, open);
    open->what.source = (uint8_t)source;
    open->what.silent = t->muted;
    if (t->muted)
        ix_count(&ix_engine.part->rank.dropped);
    if (unsure)
        open->what.slack = IX_SLACK_UNKNOWN;
    else if (t->depth)
        ix_keep(t, open, e, word);
}

uint32_t ix_post(ix_thread *t, const ix_transfer *transfer, int64_t time_ns, enum ix_source source)
{
    if (!t || transfer->bytes <= 0 || transfer->path == IX_PATH_NONE)
        return 0;
    int unsure = stale(t);
    if (t->off)
        return 0;
    ix_slot *s = ix_slot_reserve_any();
    ix_open none, *open = s ? &s->open : &none;
    ix_end begin = at(t, time_ns); /* (before `touched` is stored to, beside what it reads) */
    uint64_t word = posted_word(transfer, source);
    ix_begin_entry *e = ix_begin_entry_for(t, transfer->bytes, word);
    if (t->depth && !unsure && ix_begins_again(t, e, transfer->bytes, word)) {
        ix_open_again(t, e, open);
        ix_count_begin(t, (uint64_t)e->what.open_ns);
    } else {
        post_anew(t, transfer, open, e, word, source, unsure);
    }
    open->compute0_ns = begin.compute_ns;
    open->call0_ns = begin.call_ns;
    open->paused0_ns = begin.paused_ns;
    if (!s)
        ix_close_unknown(t, open);
    outside_calls(t);
    return s ? (uint32_t)(s - ix_table.slots) + 1 : 0;
}

/* The poorer of two sources names the row: it is not the one that the begin knew. */
static void poorer_source(ix_open *open, enum ix_source source)
{
    if (source >= open->what.source)
        return;
    open->what.source = (uint8_t)source;
    open->what.row = NULL;
    open->what.usual = 0;
}

static __attribute__((noinline)) void complete_any(ix_thread *t, ix_open *open, const ix_end *end,
                                                   int64_t bytes, enum ix_slack slack,
                                                   enum ix_source source)
{
    open->what.slack = ix_larger_slack(open->what.slack, (uint8_t)slack);
    poorer_source(open, source);
    uint8_t silent = open->what.silent;
    ix_received(t, open, bytes, IX_AS_POSTED);
    open->what.silent = silent;
    if (open->what.flags & IX_UP_TO)
        ix_close_unknown(t, open);
    else
        ix_close(t, open, end);
}

/* As it was posted, and seen by the thread that posted it. */
static int is_as_posted(const ix_thread *t, const ix_open *open, int64_t bytes, enum ix_slack slack,
                        enum ix_source source)
{
    const ix_what *what = &open->what;
    int sized = bytes == what->bytes || (bytes == IX_AS_POSTED && !(what->flags & IX_UP_TO));
    return what->usual && open->thread == t && sized && source >= what->source &&
           (slack == IX_SLACK_NONE || slack == what->slack);
}

void ix_complete(ix_thread *t, uint32_t token, int64_t time_ns, int64_t bytes, enum ix_slack slack,
                 enum ix_source source)
{
    if (!t || !token || t->off)
        return;
    ix_slot *s = ix_table.slots + token - 1;
    ix_open *open = &s->open;
    if (IX_UNLIKELY(stale(t)))
        slack = IX_SLACK_UNKNOWN;
    ix_end end = at(t, time_ns);
    t->seen_ns = time_ns;
    if (IX_LIKELY(is_as_posted(t, open, bytes, slack, source)))
        ix_close_usual(t, &open->what, end.compute_ns - open->compute0_ns,
                       end.call_ns - open->call0_ns, end.paused_ns - open->paused0_ns,
                       end.in_call_ns, end.time_ns);
    else
        complete_any(t, open, &end, bytes, slack, source);
    ix_slot_release_any(s);
    outside_calls(t);
}

ix_moment ix_moment_at(ix_thread *t, int64_t time_ns)
{
    if (!t)
        return (ix_moment){.unsure = 1};
    int unsure = stale(t);
    ix_end end = at(t, time_ns);
    return (ix_moment){t,       end.compute_ns, end.call_ns, end.paused_ns, end.in_call_ns,
                       time_ns, unsure};
}

void ix_begin_later(ix_thread *t, uint32_t token, int64_t time_ns)
{
    if (!t || !token || t->off)
        return;
    ix_open *open = &ix_table.slots[token - 1].open;
    if (open->thread != t)
        return;
    if (stale(t)) {
        open->what.slack = IX_SLACK_UNKNOWN;
        open->what.usual = 0;
        return;
    }
    ix_end begin = at(t, time_ns);
    open->compute0_ns = begin.compute_ns;
    open->call0_ns = begin.call_ns;
    open->paused0_ns = begin.paused_ns;
}

void ix_complete_then(ix_thread *t, uint32_t token, const ix_moment *end, int64_t bytes, int path,
                      enum ix_slack slack, enum ix_source source)
{
    if (!t || !token || t->off)
        return;
    ix_slot *s = ix_table.slots + token - 1;
    ix_open *open = &s->open;
    if (end->unsure || end->thread != open->thread) {
        slack = IX_SLACK_UNKNOWN;
        open->thread = NULL; /* the clocks of begin and end are not the same */
    }
    open->what.slack = ix_larger_slack(open->what.slack, (uint8_t)slack);
    poorer_source(open, source);
    uint8_t silent = open->what.silent;
    ix_received(t, open, bytes, path);
    /* a wildcard receive turns out to be on a path that the calls see */
    int mine = open->what.path <= IX_PATH_INTER && ix_engine.source_paths >> open->what.path & 1;
    open->what.silent = silent || !mine;
    int here = end->thread == t && end->time_ns >= t->last_ns;
    ix_end then = {end->compute_ns, end->call_ns, end->paused_ns, here ? end->in_call_ns : 0,
                   end->time_ns};
    if (open->what.flags & IX_UP_TO)
        ix_close_unknown(t, open);
    else
        ix_close(t, open, &then);
    ix_slot_release_any(s);
    outside_calls(t);
}

/* ---- What the calls began, seen over from inside the library */

static ix_slot *single_slot(uint64_t key)
{
    ix_slot *s = ix_slot_find(key);
    return s && !ix_is_persistent(s) && !atomic_load_explicit(&s->duplicate, memory_order_relaxed)
               ? s
               : NULL;
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
    if (!t || !sequence || t->off)
        return;
    uint64_t key = ix_request_key(handle);
    ix_slot *s = single_slot(key);
    if (!s || sequence_of(s) != sequence || ix_slot_take(t, key) != s)
        return;
    s->open.what.slack = stale(t) ? IX_SLACK_UNKNOWN : IX_SLACK_NONE;
    s->open.what.usual = 0;
    ix_end end = at(t, time_ns);
    ix_close(t, &s->open, &end);
    ix_slot_release(s);
    outside_calls(t);
}
