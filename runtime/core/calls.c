/* CALL_EXIT: what a call adds to the rows. The rules of the wait time: docs/theory/measuring.md,
 * "Wait". */
#include "core/call_logging.h"
#include "core/call_paths.h"
#include "core/closing.h"
#include "core/slots.h"

/* ---- Transfers that begin and end in one call */

static IX_COLD void begin_without_room(ix_thread *t, const ix_descriptor *d)
{
    ix_open open;
    ix_open_in_call(t, d, &open);
    ix_close_unknown(t, &open);
}

static inline IX_ALWAYS void begin_own(ix_thread *t, const ix_descriptor *d)
{
    uint32_t number = t->own_count;
    if (IX_UNLIKELY(number == IX_OWN_MAX)) {
        begin_without_room(t, d);
        return;
    }
    if (IX_UNLIKELY(d == &t->described)) {
        t->own_room[number] = *d;
        d = &t->own_room[number];
    }
    t->own[number] = d;
    t->own_count = number + 1;
    t->settles = 1;
    ix_count_begin(t, d);
    ix_note_first(t, d);
}

IX_HOT void ix_blocking_packed(ix_thread *t, int64_t bytes, ix_packed packed)
{
    if (!t || t->depth != 1)
        return;
    const ix_descriptor *d = ix_descriptor_of(t, bytes, packed);
    if (d)
        begin_own(t, d);
}

/* ---- The transfers that end with a call */

static void close_sized(ix_thread *t, ix_open *open, const ix_end *end)
{
    if (open->descriptor.flags & IX_UP_TO)
        ix_close_unknown(t, open);
    else
        ix_close(t, open, end);
}

static IX_APART void close_own_unresolved(ix_thread *t, const ix_descriptor *d, ix_clocks since,
                                          int64_t in_call_ns, int64_t now)
{
    ix_end end = {ix_clocks_of(t), in_call_ns, now};
    ix_open open = {ix_clocks_since(&since, end.clocks), t, *d};
    close_sized(t, &open, &end);
}

static IX_APART void close_unresolved(ix_thread *t, ix_slot *s, int64_t in_call_ns, int64_t now)
{
    ix_end end = {ix_clocks_of(t), in_call_ns, now};
    if (ix_is_marked(s, IX_DUPLICATE))
        ix_widen_slack(&s->open.descriptor, IX_SLACK_UNKNOWN);
    close_sized(t, &s->open, &end);
}

/* `since`: what this call has added to the thread's clocks. */
static inline IX_ALWAYS void close_own(ix_thread *t, ix_settlement *ended, ix_clocks since,
                                       int64_t in_call_ns, int64_t now)
{
    for (uint32_t i = 0; i < t->own_count; i++) {
        const ix_descriptor *d = t->own[i];
        if (IX_LIKELY((d->flags & (IX_RESOLVED | IX_UP_TO)) == IX_RESOLVED))
            ix_close_resolved(ended, d, since.compute_ns, since.call_ns, since.paused_ns,
                              in_call_ns);
        else
            close_own_unresolved(t, d, since, in_call_ns, now);
    }
}

/* Transfers whose requests this call completed. */
static inline IX_ALWAYS void close_finished(ix_thread *t, ix_settlement *ended, int64_t in_call_ns,
                                            int64_t now, int concurrent)
{
    uint64_t released = 0;
    for (ix_slot *s = t->finished, *next; s; s = next) {
        const ix_open *open = &s->open;
        next = s->next;
        if (IX_LIKELY(open->descriptor.flags & IX_RESOLVED))
            ix_close_resolved(ended, &open->descriptor, t->compute_ns - open->begin.compute_ns,
                              t->call_ns - open->begin.call_ns,
                              t->paused_ns - open->begin.paused_ns, in_call_ns);
        else
            close_unresolved(t, s, in_call_ns, now);
        if (IX_UNLIKELY(ix_is_marked(s, IX_PERSISTENT))) {
            ix_mark(s, 0, IX_ENDING);
        } else {
            ix_slot_empty(s);
            released++;
        }
    }
    if (released)
        ix_add_if(concurrent, &ix_table.released, released);
}

/* ---- Wait */

/* How long in this call, at most, data may have moved: of transfers open at any time in it and of
 * sends that had completed before. */
static inline uint64_t may_have_moved(const ix_thread *t, int64_t entered, int64_t now)
{
    uint64_t open =
        atomic_load_explicit(&ix_share.begun_ns, memory_order_acquire) - t->closed_at_enter;
    int64_t tail = ix_least(now, t->moving_until_ns) - entered;
    return open + (uint64_t)ix_most(0, tail);
}

static inline void owe(ix_thread *t, uint64_t debt_ns, uint64_t own_share_ns, int concurrent)
{
    ix_add_if(concurrent, &ix_share.debt_ns, debt_ns);
    t->debt_paid_ns += debt_ns - own_share_ns;
}

static inline void incur_debt(ix_thread *t, uint64_t outside, int64_t dt, uint64_t moved,
                              int concurrent)
{
    uint64_t uncovered = moved > (uint64_t)dt ? moved - (uint64_t)dt : 0;
    if (outside)
        owe(t, outside, outside < uncovered ? outside : uncovered, concurrent);
    if (IX_UNLIKELY(concurrent)) /* ended calls of other threads did not know of them */
        owe(t, t->begun_here_ns < (uint64_t)dt ? t->begun_here_ns : (uint64_t)dt, 0, concurrent);
}

static inline int64_t pay_debt(ix_thread *t, int64_t wait)
{
    uint64_t owed = atomic_load_explicit(&ix_share.debt_ns, memory_order_relaxed) - t->debt_paid_ns;
    if (IX_LIKELY(!owed) || wait <= 0)
        return wait;
    uint64_t paid = owed < (uint64_t)wait ? owed : (uint64_t)wait;
    t->debt_paid_ns += paid;
    return wait - (int64_t)paid;
}

/* ---- The row of a call */

static IX_APART ix_row *find_row_without_transfer(ix_thread *t)
{
    const ix_plan *known = ix_plan_elsewhere(t, 0, 0);
    if (known)
        return known->row;
    int32_t site = ix_call_site(t);
    ix_row *row = ix_row_of(t, site, t->operation, t->section, -1, IX_PATH_NONE, IX_SOURCE_CALL);
    /* what finds no room is counted each time */
    int has_room = (site || !t->address) && row != t->rows;
    ix_plan *p = has_room && !t->muted ? ix_plan_new(t, 0, 0) : NULL;
    if (p) {
        p->row = row;
        p->transfer.site = site;
    }
    return row;
}

/* NULL where there is no plan of it at the call site's home. */
static inline IX_ALWAYS ix_row *row_without_transfer(const ix_thread *t)
{
    const ix_plan *p = ix_plan_home(t, t->address);
    return IX_LIKELY(ix_is_plan(t, p, 0, 0)) ? p->row : NULL;
}

static IX_APART ix_row *find_row_of_first(ix_thread *t)
{
    return ix_row_of(t, ix_call_site(t), t->operation, t->section, t->first_class, t->first_path,
                     IX_SOURCE_CALL);
}

/* The row of a call: of the first transfer that it began, or of no transfer. */
static inline IX_ALWAYS ix_row *row_of_call(ix_thread *t)
{
    ix_row *row = t->row ? t->row : row_without_transfer(t);
    if (IX_UNLIKELY(!row))
        return find_row_without_transfer(t);
    return IX_LIKELY(row != IX_ROW_TO_FIND) ? row : find_row_of_first(t);
}

/* ---- The end of a call */

static inline void reset(ix_thread *t)
{
    t->settles = 0;
    t->row = NULL;
    t->finished = NULL;
    t->own_count = 0;
    t->site = -1;
    if (IX_UNLIKELY(t->begun_here_ns || t->moving_min_ns || t->outside_ns))
        t->begun_here_ns = t->moving_min_ns = t->outside_ns = 0;
}

static inline void publish(ix_thread *t, int64_t now)
{
    t->part->compute_ns = t->compute_ns;
    t->part->call_ns = t->call_ns;
    t->part->last_exit_ns = now - ix_engine.start_ns;
}

/* Site, operation and section as in a record of the call log. What found no room has the row of
 * none. */
static inline IX_ALWAYS uint64_t place_of_call(ix_thread *t, const ix_row *row)
{
    ix_row_key key;
    memcpy(&key, row, sizeof key);
    if (IX_UNLIKELY(row == t->rows))
        return (uint32_t)ix_call_site(t) | (uint64_t)t->operation << 32 |
               (uint64_t)t->section << 48;
    return key.words[0] >> 32 | key.words[1] << 32;
}

/* The one place where a call is counted. */
static inline IX_ALWAYS void count_call(ix_thread *t, ix_row *row, int64_t dt, int64_t moving,
                                        uint64_t moved, int64_t now)
{
    int exposed =
        t->exposed_at_enter || atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    int64_t wait_min = exposed || moved >= (uint64_t)dt ? 0 : dt - (int64_t)moved;
    row->count++;
    row->call_ns += dt;
    row->wait_min_ns += pay_debt(t, wait_min);
    row->wait_max_ns += dt - moving;
    t->part->calls++;
    publish(t, now);
}

static inline IX_ALWAYS void log_call(ix_thread *t, uint64_t place, int64_t entered, int64_t dt,
                                      int64_t now)
{
    if (t->log.last)
        ix_log_leave(t, entered - ix_engine.start_ns, now - ix_engine.start_ns, t->call_ns - dt,
                     place);
}

/* A call that ended transfers, whose time is in the thread's clock already. */
static inline IX_ALWAYS void settle(ix_thread *t, ix_clocks since, int64_t entered, int64_t now)
{
    const int concurrent = ix_share.concurrent;
    int64_t dt = since.call_ns;
    ix_settlement ended = {0};
    close_own(t, &ended, since, dt, now);
    close_finished(t, &ended, dt, now, concurrent);
    ix_settle_with_engine(&ended, now, concurrent);
    uint64_t moved = may_have_moved(t, entered, now);
    incur_debt(t, (uint64_t)(t->outside_ns + ended.outside_ns), dt, moved, concurrent);
    ix_row *row = row_of_call(t);
    int64_t moving = ix_most(t->moving_min_ns, ended.moving_min_ns);
    uint64_t place = t->log.last ? place_of_call(t, row) : 0;
    reset(t);
    count_call(t, row, dt, moving, moved, now);
    log_call(t, place, entered, dt, now);
    if (IX_UNLIKELY(ix_call_path_is_due(row->count)))
        ix_call_path_look(t, row);
}

/* The same of one that is not counted. */
static void settle_uncounted(ix_thread *t, ix_clocks since, int64_t now)
{
    const int concurrent = ix_share.concurrent;
    ix_settlement ended = {0};
    close_own(t, &ended, since, 0, now);
    close_finished(t, &ended, 0, now, concurrent);
    ix_settle_with_engine(&ended, now, concurrent);
    incur_debt(t, (uint64_t)(t->outside_ns + ended.outside_ns), 0, UINT64_MAX, concurrent);
    reset(t);
    publish(t, now);
}

/* A call during which measuring paused, resumed or stopped; returns its recorded time, -1 if none.
 */
static int64_t time_of_changed(ix_thread *t, int64_t now)
{
    int64_t measured = ix_unpaused(t, now);
    if (t->unrecorded) {
        t->unrecorded = 0;
        t->paused_ns += measured;
        return -1;
    }
    return t->off ? -1 : measured;
}

static inline int is_changed(const ix_thread *t)
{
    return t->measured_epoch != atomic_load_explicit(&ix_share.epoch, memory_order_relaxed);
}

/* Any end of a call. */
static IX_COLD void leave_any(ix_thread *t, int counted, int64_t now)
{
    int64_t entered = t->last_ns, dt = now - entered;
    ix_clocks before = ix_clocks_of(t);
    if (is_changed(t)) {
        dt = time_of_changed(t, now);
        if (t->off) {
            reset(t);
            return;
        }
    }
    t->last_ns = now;
    if (counted && dt >= 0) {
        t->call_ns += dt;
        settle(t, ix_clocks_since(&before, ix_clocks_of(t)), entered, now);
        return;
    }
    if (t->log.last)
        ix_log_drop(t, now);
    if (dt > 0)
        t->compute_ns += dt;
    settle_uncounted(t, ix_clocks_since(&before, ix_clocks_of(t)), now);
}

/* The end of a call that ended a transfer, or of which something has to be looked up. */
static inline IX_ALWAYS void leave_settling(ix_thread *t, int64_t now)
{
    int64_t entered = t->last_ns, dt = now - entered;
    if (IX_UNLIKELY(is_changed(t) || dt < 0)) {
        leave_any(t, 1, now);
        return;
    }
    t->last_ns = now;
    t->call_ns += dt;
    settle(t, (ix_clocks){0, dt, 0}, entered, now);
}

static IX_HOT IX_APART void leave_settling_at(ix_thread *t, int64_t now)
{
    leave_settling(t, now);
}

static IX_HOT IX_APART void leave_settling_now(ix_thread *t)
{
    leave_settling(t, ix_now_counter());
}

/* What a few calls need behind that: their records in the log, a look at their callers. */
static IX_APART void leave_noted(ix_thread *t, ix_row *row, int64_t entered, int64_t now)
{
    log_call(t, place_of_call(t, row), entered, now - entered, now);
    if (IX_UNLIKELY(ix_call_path_is_due(row->count)))
        ix_call_path_look(t, row);
}

/* The end of any other call. */
static inline IX_ALWAYS void leave_plain(ix_thread *t, int64_t now)
{
    int64_t entered = t->last_ns, dt = now - entered;
    ix_row *row = t->row ? t->row : row_without_transfer(t);
    if (IX_UNLIKELY(is_changed(t) || dt < 0 || !row)) {
        leave_settling_at(t, now);
        return;
    }
    t->last_ns = now;
    t->call_ns += dt;
    t->row = NULL;
    count_call(t, row, dt, 0, may_have_moved(t, entered, now), now);
    if (t->log.last || IX_UNLIKELY(ix_call_path_is_due(row->count)))
        leave_noted(t, row, entered, now);
}

static IX_COLD void leave_by_slow_clock(ix_thread *t)
{
    if (t->settles)
        leave_settling_at(t, ix_now_slow());
    else
        leave_plain(t, ix_now_slow());
}

/* The functions that do the work are the last thing that it calls, so that it needs no stack. */
IX_HOT void ix_leave(ix_thread *t)
{
    if (IX_UNLIKELY(!t || t->depth != 1)) {
        if (t && t->depth)
            t->depth--;
        return;
    }
    t->depth = 0;
    if (IX_UNLIKELY(!ix_clock_is_counter()))
        leave_by_slow_clock(t);
    else if (t->settles)
        leave_settling_now(t);
    else
        leave_plain(t, ix_now_counter());
}

void ix_leave_uncounted(ix_thread *t)
{
    if (t && t->depth && --t->depth == 0)
        leave_any(t, 0, ix_now());
}

void ix_enter_slow(ix_thread *t, int64_t now)
{
    ix_sites_forget(t);
    t->compute_ns += ix_unpaused(t, now);
    t->unrecorded = t->muted;
}
