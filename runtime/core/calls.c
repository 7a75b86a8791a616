/* CALL_EXIT: what a call adds to the rows. */
#include "core/call_logging.h"
#include "core/call_paths.h"
#include "core/closing.h"
#include "core/log_records.h"
#include "core/slots.h"
#include "core/wait.h"

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
    ix_to_settle(t);
    ix_count_begin(t, d);
    ix_note_first(t, d);
}

IX_HOT void ix_blocking_packed(ix_thread *t, int64_t bytes, ix_packed packed)
{
    if (!t || ix_depth(t) != 1)
        return;
    const ix_descriptor *d = ix_descriptor_of(t, bytes, packed);
    if (d)
        begin_own(t, d);
}

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
    const ix_plan *p = t->home;
    if (IX_UNLIKELY(!ix_is_plain_plan(t, p)))
        return NULL;
    if (!p->row)
        __builtin_unreachable(); /* each such plan has one */
    return p->row;
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

static inline void reset(ix_thread *t)
{
    t->state &= ~(IX_SETTLES | IX_LOGGED);
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
static inline IX_ALWAYS uint64_t place_of_row(const ix_row *row)
{
    ix_row_key key;
    memcpy(&key, row, sizeof key);
    return key.words[0] >> 32 | key.words[1] << 32;
}

static inline IX_ALWAYS uint64_t place_of_call(ix_thread *t, const ix_row *row)
{
    if (IX_UNLIKELY(row == t->rows))
        return (uint32_t)ix_call_site(t) | (uint64_t)t->operation << 32 |
               (uint64_t)t->section << 48;
    return place_of_row(row);
}

/* The one place where a call is counted; its number in the row. */
static inline IX_ALWAYS int64_t count_call(ix_thread *t, ix_row *row, int64_t dt, int64_t moving,
                                           uint64_t moved, int64_t now)
{
    uint32_t exposed =
        t->exposed_at_enter | atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    if (IX_LIKELY(!exposed && moved < (uint64_t)dt))
        row->wait_min_ns += ix_pay_debt(t, dt - (int64_t)moved);
    int64_t number = ++row->count;
    row->call_ns += dt;
    row->wait_max_ns += dt - moving;
    t->part->calls++;
    publish(t, now);
    return number;
}

static inline IX_ALWAYS void log_call(ix_thread *t, uint64_t place, int64_t entered, int64_t dt,
                                      int64_t now)
{
    ix_log_leave(t, entered - ix_engine.start_ns, now - ix_engine.start_ns, t->call_ns - dt, place);
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
    uint64_t moved = ix_may_have_moved(t, entered, now);
    ix_incur_debt(t, (uint64_t)(t->outside_ns + ended.outside_ns), dt, moved, concurrent);
    ix_row *row = row_of_call(t);
    int64_t moving = ix_most(t->moving_min_ns, ended.moving_min_ns);
    int logged = t->log.first != NULL;
    uint64_t place = logged ? place_of_call(t, row) : 0;
    reset(t);
    int64_t number = count_call(t, row, dt, moving, moved, now);
    if (logged)
        log_call(t, place, entered, dt, now);
    if (IX_UNLIKELY(ix_call_path_is_due(number)))
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
    ix_incur_debt(t, (uint64_t)(t->outside_ns + ended.outside_ns), 0, UINT64_MAX, concurrent);
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
    return ix_is_off(t) ? -1 : measured;
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
        if (ix_is_off(t)) {
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
    if (t->log.first)
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

static IX_HOT IX_APART int leave_settling_at(ix_thread *t, int64_t now, int result)
{
    leave_settling(t, now);
    return result;
}

static IX_HOT IX_APART int leave_settling_now(ix_thread *t, int result)
{
    leave_settling(t, ix_now_counter());
    return result;
}

static IX_COLD int look_and_return(ix_thread *t, ix_row *row, int result)
{
    ix_call_path_look(t, row);
    return result;
}

static inline IX_ALWAYS int leave_counted(ix_thread *t, ix_row *row, int64_t now, int result)
{
    int64_t entered = t->last_ns, dt = now - entered;
    t->last_ns = now;
    t->call_ns += dt;
    t->row = NULL;
    int64_t number = count_call(t, row, dt, 0, ix_may_have_moved(t, entered, now), now);
    if (IX_UNLIKELY(ix_call_path_is_due(number)))
        return look_and_return(t, row, result);
    return result;
}

/* The end of any other call. What does more is the last thing that it calls, so that it needs no
 * stack. */
static inline IX_ALWAYS int leave_plain(ix_thread *t, int64_t now, int result)
{
    ix_row *row = t->row;
    if (IX_LIKELY(!row) && IX_UNLIKELY(!(row = row_without_transfer(t))))
        return leave_settling_at(t, now, result);
    if (IX_UNLIKELY(is_changed(t) || now < t->last_ns))
        return leave_settling_at(t, now, result);
    return leave_counted(t, row, now, result);
}

/* The same of one with a record in the call log, which is written before the call is counted: then
 * less is to be remembered. */
static IX_HOT IX_APART int leave_logged_now(ix_thread *t, int result)
{
    int64_t now = ix_now_counter();
    ix_row *row = t->row;
    if (IX_LIKELY(!row) && IX_UNLIKELY(!(row = row_without_transfer(t))))
        return leave_settling_at(t, now, result);
    if (IX_UNLIKELY(is_changed(t) || now < t->last_ns || row == t->rows || !ix_log_is_one(t)))
        return leave_settling_at(t, now, result);
    ix_log_leave_one(t, t->last_ns - ix_engine.start_ns, now - ix_engine.start_ns, t->call_ns,
                     place_of_row(row));
    return leave_counted(t, row, now, result);
}

static IX_HOT IX_APART int leave_plain_now(ix_thread *t, int result)
{
    return leave_plain(t, ix_now_counter(), result);
}

/* The end of a call that is within another, or is timed by another clock. */
static IX_APART int leave_by_state(ix_thread *t, int result)
{
    uint32_t state = t->state;
    if ((state & IX_DEPTH) != 1) {
        t->state = state & IX_DEPTH ? state - 1 : state;
        return result;
    }
    t->state = state & ~(IX_DEPTH | IX_SETTLES | IX_LOGGED);
    if (state & (IX_SETTLES | IX_LOGGED))
        return leave_settling_at(t, ix_now(), result);
    return leave_plain(t, ix_now(), result);
}

IX_HOT IX_APART int ix_leave_with(ix_thread *t, int result)
{
    if (IX_UNLIKELY(!t))
        return result;
    uint32_t state = t->state;
    if (IX_LIKELY(state == 1)) {
        t->state = 0;
        return leave_plain(t, ix_now_counter(), result);
    }
    const uint32_t stays = state & IX_ASKS_SITE;
    switch (state - stays) {
    case 1:
        t->state = stays;
        return leave_plain_now(t, result);
    case 1 | IX_LOGGED:
        t->state = stays;
        return leave_logged_now(t, result);
    case 1 | IX_SETTLES:
    case 1 | IX_SETTLES | IX_LOGGED:
        t->state = stays;
        return leave_settling_now(t, result);
    default:
        return leave_by_state(t, result);
    }
}

void ix_leave_uncounted(ix_thread *t)
{
    if (t && ix_depth(t) && (--t->state & IX_DEPTH) == 0)
        leave_any(t, 0, ix_now());
}
