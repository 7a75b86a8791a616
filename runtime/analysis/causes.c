#include "analysis/causes.h"

#include "analysis/need.h"

static int64_t clamp(int64_t t, int64_t low, int64_t high)
{
    return ix_most(low, ix_least(t, high));
}

/* Of a transfer that takes `least_ns` and goes on between two moments: for how long it certainly
 * did so in this call from `rest_ns` on. */
static int64_t within(int64_t least_ns, int64_t from_ns, int64_t to_ns, int64_t rest_ns,
                      int64_t exit_ns, int64_t doubt_ns)
{
    int64_t before = ix_most(0, rest_ns - from_ns), after = ix_most(0, to_ns - exit_ns);
    if (least_ns > to_ns - from_ns + doubt_ns) /* the table does not hold here */
        return 0;
    return ix_most(0, least_ns - before - after - doubt_ns);
}

/* Where each rank needs what every other gives, a block goes from the last one that entered to each
 * other rank after its entry: how early the others entered takes nothing off that. */
static int64_t last_block(const ix_view *view, const ix_completed *c, int64_t rest_ns,
                          int64_t exit_ns)
{
    const ix_op *op = &view->ops[c->op];
    const ix_match *m = &view->matches[c->op];
    int is_last = m->peer == view->rank;
    if (c->facts.partners < 1 || op->flags & IX_LOG_VARYING ||
        !(op->kind == IX_LOG_ALL || (op->kind == IX_LOG_TO_ROOT && m->is_root && !is_last)))
        return 0;
    int64_t block_ns = c->facts.time.x_lo_ns / c->facts.partners;
    int64_t from = is_last ? op->enter_ns : m->all.last_enter;
    int64_t to = is_last ? m->all.last_exit : exit_ns;
    return within(block_ns, from, to, rest_ns, exit_ns, 2 * m->error_ns);
}

/* Of two ranks in an all-to-all of which next to nothing moves before the last one enters. */
static int64_t behind_last_entry(const ix_view *view, const ix_completed *c, int64_t rest_ns,
                                 int64_t exit_ns)
{
    const ix_op *op = &view->ops[c->op];
    const ix_match *m = &view->matches[c->op];
    int64_t early_ns = c->facts.time.head_ns;
    if (op->kind != IX_LOG_ALL || op->end_call != c->op || c->facts.partners != 1 ||
        early_ns == IX_UNKNOWN)
        return 0;
    return within(c->facts.time.x_lo_ns - early_ns, m->all.last_enter,
                  ix_most(m->all.last_exit, exit_ns), rest_ns, exit_ns, 2 * m->error_ns);
}

/* For how long this transfer certainly went on in this call from `rest_ns` on. Everybody is there
 * by then: latencies belong to what a message takes, but where calls see its end that look at it
 * now and then (polls, Waitany), which may be sooner than any call that waits for it would. */
static int64_t certainly_moved(const ix_view *view, const ix_completed *c, int looks,
                               int64_t rest_ns, int64_t exit_ns)
{
    int64_t from, to, doubt = 2 * view->matches[c->op].error_ns;
    if (!ix_matched_interval(view, c->op, &from, &to))
        return 0;
    int64_t moved = within(c->facts.time.x_lo_ns, from, to, rest_ns, exit_ns, doubt);
    if (ix_is_collective(&view->ops[c->op]) && c->facts.partners < 1)
        return 0;
    if (ix_is_collective(&view->ops[c->op]))
        return ix_most(moved, ix_most(last_block(view, c, rest_ns, exit_ns),
                                      behind_last_entry(view, c, rest_ns, exit_ns)));
    if (looks)
        return moved;
    return ix_most(moved, within(c->facts.least_ns, from, to, rest_ns, exit_ns, doubt));
}

/* How long this process computed between the moment at which both sides were there and the call. */
static ix_interval computed_meanwhile(const ix_view *view, const ix_completed *c, int64_t enter_ns)
{
    const ix_op *op = &view->ops[c->op];
    const ix_match *m = &view->matches[c->op];
    int64_t there = ix_is_collective(op) ? m->all.last_enter : m->other.start_enter;
    int64_t sooner = (ix_is_collective(op) ? m->all.needed_enter : there) - m->error_ns;
    int64_t from = ix_most(op->exit_ns, there);
    if (enter_ns <= op->exit_ns)
        return (ix_interval){0};
    ix_span late = ix_view_span(view, c->op, from + m->error_ns, enter_ns);
    if (sooner == there)
        return (ix_interval){late.compute_min, late.compute_max};
    ix_span early = ix_view_span(view, c->op, ix_most(op->exit_ns, sooner), enter_ns);
    return (ix_interval){late.compute_min, ix_most(late.compute_max, early.compute_max)};
}

/* How long the partner computed between the moment from which both sides were there and the end of
 * the call: only this process can have driven the transfer then. */
static ix_interval partner_computed(const ix_view *view, const ix_completed *c,
                                    ix_interval rest_from, int64_t exit_ns)
{
    const ix_op *op = &view->ops[c->op];
    const ix_match *m = &view->matches[c->op];
    if (m->state != IX_MATCHED || op->bytes <= 0 || !(ix_is_send(op) || op->kind == IX_LOG_RECV))
        return (ix_interval){0};
    int64_t error = m->error_ns, from = m->other.start_exit, to = m->other.end_enter;
    int64_t least = ix_least(exit_ns, to - error) - ix_most(rest_from.max_ns, from + error);
    int64_t most = ix_least(exit_ns, to + error) - ix_most(rest_from.min_ns, from - error);
    least = m->other.between < 0 ? 0 : least - m->other.between;
    return (ix_interval){ix_most(0, least), ix_most(0, most)};
}

/* The moments until which the call waited, by cause, and what it moved. */
typedef struct summary {
    int64_t certain[IX_CAUSES], possible[IX_CAUSES];
    uint32_t latest;
    int64_t latest_ns;
    int unmatched, needing, maybe, data;
    int any;    /* the call returned for the first of what it waited for */
    int polled; /* it is several that found nothing, and one that did */
    int calibrated;
    int64_t x_hi_ns; /* of all that moved */
    ix_interval computed;
} summary;

static int64_t combine(int any, int first, int64_t so_far, int64_t now)
{
    if (first)
        return now;
    return any ? ix_least(so_far, now) : ix_most(so_far, now);
}

static summary sum_up(const ix_view *view, const ix_op *call, int any,
                      const ix_completed *completed, uint32_t count)
{
    summary s = {.latest = IX_NO_END, .latest_ns = IX_LONG_AGO, .calibrated = 1, .any = any};
    int seen[IX_CAUSES] = {0};
    for (int k = 0; k < IX_CAUSES; k++)
        s.certain[k] = s.possible[k] = IX_LONG_AGO;
    for (uint32_t k = 0; k < count; k++) {
        const ix_completed *c = &completed[k];
        const ix_op *op = &view->ops[c->op];
        ix_need n = ix_need_of(view, c, call);
        s.unmatched += n.how == IX_UNMATCHED;
        s.needing += n.how == IX_NEEDS;
        s.maybe += n.how == IX_MAY_NEED;
        /* What origins put may still have to come. */
        s.unmatched += op->kind == IX_LOG_EXPOSURE && op->tag == IX_EPOCH_ENDS;
        if (op->bytes > 0 && op->kind != IX_LOG_PROBE) {
            s.data = 1;
            s.calibrated = s.calibrated && c->facts.time.calibrated;
            s.x_hi_ns += c->facts.time.x_hi_ns;
        }
        if (n.how == IX_UNMATCHED && any) /* it may have come first */
            for (int cause = 0; cause < IX_CAUSES; cause++)
                s.certain[cause] = IX_LONG_AGO, seen[cause] = 1;
        if (n.how != IX_NEEDS && n.how != IX_MAY_NEED)
            continue;
        s.certain[n.cause] = combine(any, !seen[n.cause], s.certain[n.cause], n.certain);
        s.possible[n.cause] = combine(any, !seen[n.cause], s.possible[n.cause], n.possible);
        seen[n.cause] = 1;
        if (n.possible > call->enter_ns &&
            (s.latest == IX_NO_END ||
             (any ? n.possible < s.latest_ns : n.possible > s.latest_ns))) {
            s.latest = c->op;
            s.latest_ns = n.possible;
        }
        if (ix_is_group_epoch(op->kind))
            continue;
        ix_interval computed = computed_meanwhile(view, c, call->enter_ns);
        if (n.how == IX_NEEDS) /* else it may have been buffered before the computation */
            s.computed.min_ns = ix_most(s.computed.min_ns, computed.min_ns);
        s.computed.max_ns = ix_most(s.computed.max_ns, computed.max_ns);
    }
    /* One of several that came first: the other causes did not hold the call. */
    if (any) {
        int causes = 0;
        for (int k = 0; k < IX_UNATTRIBUTED; k++)
            causes += seen[k];
        if (causes > 1)
            for (int k = 0; k < IX_CAUSES; k++)
                s.certain[k] = IX_LONG_AGO;
    }
    return s;
}

/* Until the last late sender the call waited for senders, from there to the last rank of a
 * collective for that, and from there to the last receiver. */
static void share_out_late(const summary *s, int64_t enter, int64_t exit, ix_call_causes *c,
                           ix_interval *rest_from)
{
    static const enum ix_cause order[] = {IX_LATE_SENDER, IX_LATE_COLLECTIVE, IX_LATE_RECEIVER};
    int64_t certain = enter, possible = enter;
    for (int k = 0; k < 3; k++) {
        int64_t least = clamp(s->certain[order[k]], enter, exit);
        int64_t most = clamp(s->possible[order[k]], enter, exit);
        c->part[order[k]].min_ns = ix_most(0, least - possible);
        c->part[order[k]].max_ns = ix_most(0, most - certain);
        certain = ix_most(certain, least);
        possible = ix_most(possible, most);
    }
    c->late = (ix_interval){certain - enter, possible - enter};
    *rest_from = (ix_interval){certain, possible};
}

/* Whether the receiver of the send `i` had not yet got the message before it when a call began. */
static int lags(const ix_view *view, uint32_t i, int64_t enter_ns)
{
    enum { LOOKED_AT = 256 }; /* records; one further back is as good as received */
    uint32_t last = i > LOOKED_AT ? i - LOOKED_AT : 0;
    for (uint32_t j = i; j-- > last && view->ops[j].thread == view->ops[i].thread;) {
        const ix_match *m = &view->matches[j];
        if (ix_is_send(&view->ops[j]) && m->state == IX_MATCHED && m->peer == view->matches[i].peer)
            return m->other.end_exit - m->error_ns > enter_ns;
    }
    return 0;
}

/* Sends that return before their match wait for nobody while the library has room for what they
 * send. Beyond what the copies need, a call whose receiver lags waits for that to take earlier
 * messages out of the way; at most until it posts the receive of this one. */
static void wait_for_room(const ix_view *view, const ix_op *call, const summary *s,
                          const ix_completed *completed, uint32_t count, ix_call_causes *c)
{
    int64_t length = call->exit_ns - call->enter_ns;
    if (!s->calibrated || length <= s->x_hi_ns)
        return;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = completed[k].op;
        const ix_match *m = &view->matches[i];
        if (view->ops[i].kind != IX_LOG_SEND || view->ops[i].bytes <= 0 || m->state != IX_MATCHED ||
            !lags(view, i, call->enter_ns))
            continue;
        int64_t until = m->other.start_enter - call->enter_ns;
        int64_t least = clamp(until - m->error_ns, 0, length) - s->x_hi_ns;
        if (least <= c->late.min_ns)
            continue;
        c->late = (ix_interval){least, clamp(until + m->error_ns, 0, length)};
        c->latest = i;
    }
    c->part[IX_LATE_RECEIVER] = c->late;
    c->part[IX_LIBRARY] = (ix_interval){length - c->late.max_ns, length - c->late.min_ns};
}

/* What is left of the call once everybody was there. */
static void share_out_rest(const ix_view *view, const ix_op *call, const summary *s,
                           const ix_completed *completed, uint32_t count, ix_interval rest_from,
                           ix_call_causes *c)
{
    ix_interval rest = {call->exit_ns - rest_from.max_ns, call->exit_ns - rest_from.min_ns};
    if (s->unmatched) {
        c->part[IX_UNATTRIBUTED] = rest;
        c->gainable.max_ns = s->data ? rest.max_ns : 0;
        return;
    }
    if (!s->data || (!s->needing && !s->maybe)) { /* nothing moves, or into buffers at once */
        c->part[IX_LIBRARY] = rest;
        if (s->data && !s->any && rest_from.max_ns == call->enter_ns)
            wait_for_room(view, call, s, completed, count, c);
        return;
    }
    int64_t moved = 0;
    for (uint32_t k = 0; k < count; k++) {
        ix_interval away = partner_computed(view, &completed[k], rest_from, call->exit_ns);
        int64_t one = certainly_moved(view, &completed[k], s->polled || s->any, rest_from.max_ns,
                                      call->exit_ns);
        moved = ix_most(moved, one);
        c->undriven.min_ns = ix_most(c->undriven.min_ns, away.min_ns);
        c->undriven.max_ns = ix_most(c->undriven.max_ns, away.max_ns);
    }
    moved = ix_least(moved, rest.min_ns);
    c->part[IX_TRANSFER].min_ns = moved;
    c->part[IX_TRANSFER].max_ns = s->calibrated ? ix_least(rest.max_ns, s->x_hi_ns) : rest.max_ns;
    c->part[IX_TRANSFER].max_ns = ix_most(c->part[IX_TRANSFER].max_ns, moved);
    c->part[IX_STALLED].min_ns = s->calibrated ? ix_most(0, rest.min_ns - s->x_hi_ns) : 0;
    c->part[IX_STALLED].max_ns = rest.max_ns - moved;
    c->gainable = rest;
    if (!s->needing) { /* sends alone, which may have been buffered */
        c->part[IX_STALLED].min_ns = 0;
        c->part[IX_LIBRARY].max_ns = rest.max_ns - moved;
        c->gainable.min_ns = moved;
    }
    c->undriven.min_ns = ix_least(c->undriven.min_ns, c->gainable.min_ns);
    c->undriven.max_ns = ix_least(c->undriven.max_ns, c->gainable.max_ns);
    c->lost_overlap.min_ns = ix_least(s->computed.min_ns, c->gainable.min_ns);
    c->lost_overlap.max_ns = ix_least(s->computed.max_ns, c->gainable.max_ns);
}

static void take_off(ix_interval *part, int64_t away_ns, int64_t most_ns)
{
    part->min_ns = ix_most(0, part->min_ns - away_ns);
    part->max_ns = ix_least(part->max_ns, most_ns);
}

/* Of a test or probe: what it and those before it, which found nothing, waited for from the first
 * of them on; of that the time between them, which may lie in any part, was not in calls. */
static ix_call_causes of_polls(const ix_view *view, uint32_t call, int any,
                               const ix_completed *completed, uint32_t count)
{
    const ix_polled *polls = ix_view_polls(view, call);
    ix_op waiting = view->ops[call];
    int64_t length = waiting.exit_ns - waiting.enter_ns;
    ix_call_causes c = {.latest = IX_NO_END};
    ix_interval rest_from;
    if (!polls) {
        c.part[IX_LIBRARY] = (ix_interval){length, length};
        return c;
    }
    length += polls->call_ns;
    waiting.enter_ns = ix_least(polls->since_ns, waiting.exit_ns - length);
    int64_t away_ns = waiting.exit_ns - waiting.enter_ns - length;
    summary s = sum_up(view, &waiting, any, completed, count);
    s.polled = 1;
    share_out_late(&s, waiting.enter_ns, waiting.exit_ns, &c, &rest_from);
    share_out_rest(view, &waiting, &s, completed, count, rest_from, &c);
    c.latest = s.latest;
    c.polled_ns = polls->call_ns;
    for (int k = 0; k < IX_CAUSES; k++)
        take_off(&c.part[k], away_ns, length);
    ix_interval *further[] = {&c.gainable, &c.lost_overlap, &c.undriven, &c.late};
    for (int k = 0; k < 4; k++)
        take_off(further[k], away_ns, length);
    return c;
}

ix_call_causes ix_causes_of(const ix_view *view, uint32_t call, const ix_completed *completed,
                            uint32_t count)
{
    const ix_op *op = &view->ops[call];
    enum ix_waits waits = ix_view_waits(view, op->operation);
    ix_call_causes c = {.latest = IX_NO_END};
    ix_interval whole = {op->exit_ns - op->enter_ns, op->exit_ns - op->enter_ns}, rest_from;
    /* The other half of a send and receive may have a partner. */
    if (waits >= IX_POLLS_ALL && count > 0)
        return of_polls(view, call, waits == IX_POLLS_ANY, completed, count);
    if (ix_waits_for_nobody(waits) || (op->peer == IX_LOG_PROC_NULL && count == 0)) {
        c.part[IX_LIBRARY] = whole;
        return c;
    }
    if ((waits == IX_WAITS_UNKNOWN || waits == IX_WAITS_FILE) && count == 0) {
        c.part[waits == IX_WAITS_FILE ? IX_FILE_IO : IX_UNATTRIBUTED] = whole;
        return c;
    }
    if (count == 0) {
        /* Of requests that are null, or that the log knows nothing of (files). */
        c.part[IX_LIBRARY].max_ns = c.part[IX_UNATTRIBUTED].max_ns = whole.max_ns;
        return c;
    }
    summary s = sum_up(view, op, waits == IX_WAITS_ANY, completed, count);
    share_out_late(&s, op->enter_ns, op->exit_ns, &c, &rest_from);
    c.latest = s.latest;
    share_out_rest(view, op, &s, completed, count, rest_from, &c);
    return c;
}
