#include "analysis/evidence.h"

#include <string.h>

ix_bounds ix_bound_span(int64_t x_lo_ns, int64_t x_hi_ns, const ix_span *span, int64_t slack_ns)
{
    ix_bounds b = ix_bound(x_lo_ns, x_hi_ns, span->compute_max, span->call_max, slack_ns);
    if (x_lo_ns > span->compute_max + span->call_min + slack_ns) {
        b.overlap_min_ns = b.exposed_min_ns = 0;
        b.contradicted = 1;
    }
    return b;
}

/* An epoch of a window ends here, but for a flush that completes at the origin only. */
static int closes_both_sides(const ix_view *view, uint32_t call)
{
    const ix_op *op = &view->ops[call];
    const char *name = op->operation < view->operation_count ? view->operations[op->operation] : "";
    return op->kind == IX_LOG_EPOCH && !strstr(name, "_local");
}

/* The slack that the calls of one process leave, as runtime/core takes it. */
static int64_t call_slack(const ix_view *view, const ix_op *op, const ix_time *time)
{
    int64_t measured = IX_UNKNOWN;
    if (op->kind == IX_LOG_SEND || op->kind == IX_LOG_SYNC_SEND)
        measured = time->tail_ns;
    else if (op->kind == IX_LOG_RECV)
        measured = time->head_ns;
    else if (op->kind == IX_LOG_PUT || op->kind == IX_LOG_GET)
        measured =
            op->end_call != IX_NO_END && closes_both_sides(view, op->end_call) ? 0 : time->tail_ns;
    int other_thread = op->end_call != IX_NO_END && view->ops[op->end_call].thread != op->thread;
    return measured == IX_UNKNOWN || other_thread ? time->x_hi_ns : measured;
}

static ix_bounds by_calls(const ix_view *view, uint32_t i, const ix_time *time)
{
    const ix_op *op = &view->ops[i];
    if (op->end_call == IX_NO_END)
        return (ix_bounds){
            .overlap_max_ns = time->x_hi_ns, .exposed_max_ns = time->x_hi_ns, .undetermined = 1};
    ix_span span = ix_view_span(view, i, op->enter_ns, view->ops[op->end_call].exit_ns);
    return ix_bound_span(time->x_lo_ns, time->x_hi_ns, &span, call_slack(view, op, time));
}

int ix_matched_interval(const ix_view *view, uint32_t i, int64_t *from_ns, int64_t *to_ns)
{
    const ix_op *op = &view->ops[i];
    const ix_match *m = &view->matches[i];
    if (m->state != IX_MATCHED || op->end_call == IX_NO_END)
        return 0;
    int64_t own_exit = view->ops[op->end_call].exit_ns;
    if (op->kind == IX_LOG_RECV) {
        *from_ns = m->other.start_enter;
        *to_ns = own_exit;
    } else if (ix_is_send(op)) {
        *from_ns = op->enter_ns;
        *to_ns = m->other.end_exit;
    } else if (!ix_is_collective(op)) {
        return 0; /* what moved when of a partitioned message is not kept */
    } else {
        /* What any other rank sends on behalf of the root goes through this one too. */
        *from_ns = op->kind == IX_LOG_FROM_ROOT ? m->all.root_enter : m->all.first_enter;
        *to_ns = m->all.last_exit;
        if (*to_ns < own_exit)
            *to_ns = own_exit;
    }
    return *to_ns > *from_ns;
}

/* a cut with b; 0 if they exclude each other, and *a stays. */
static int cut(ix_bounds *a, const ix_bounds *b)
{
    ix_bounds c = *a;
    c.overlap_min_ns = ix_most(a->overlap_min_ns, b->overlap_min_ns);
    c.overlap_max_ns = ix_least(a->overlap_max_ns, b->overlap_max_ns);
    c.exposed_min_ns = ix_most(a->exposed_min_ns, b->exposed_min_ns);
    c.exposed_max_ns = ix_least(a->exposed_max_ns, b->exposed_max_ns);
    if (c.overlap_min_ns > c.overlap_max_ns || c.exposed_min_ns > c.exposed_max_ns)
        return 0;
    *a = c;
    return 1;
}

/* A blocking collective in which everybody needs what everybody gives, of which next to nothing
 * (head_ns) moves from or to a rank before it enters: what lies before its entry is no time of its.
 */
static int entered_bounds(const ix_view *view, uint32_t i, const ix_time *time, int64_t from_ns,
                          int64_t to_ns, ix_bounds *bounds)
{
    const ix_op *op = &view->ops[i];
    if (op->kind != IX_LOG_ALL || op->end_call != i || time->head_ns == IX_UNKNOWN ||
        op->enter_ns <= from_ns)
        return 0;
    ix_span span = ix_view_span(view, i, op->enter_ns, to_ns);
    int64_t slack = time->head_ns + 2 * view->matches[i].error_ns;
    *bounds = ix_bound_span(time->x_lo_ns, time->x_hi_ns, &span, slack);
    if (bounds->contradicted)
        bounds->overlap_max_ns = bounds->exposed_max_ns = time->x_hi_ns;
    return 1;
}

ix_evidence ix_evidence_of(const ix_view *view, uint32_t i, const ix_transfer_facts *facts)
{
    const ix_op *op = &view->ops[i];
    ix_evidence e = {.call = by_calls(view, i, &facts->time)};
    int64_t from, to;
    e.matched = e.expected = e.call;
    if (!ix_matched_interval(view, i, &from, &to))
        return e;
    e.is_matched = 1;
    ix_span span = ix_view_span(view, i, from, to);
    ix_bounds b = ix_bound_span(facts->time.x_lo_ns, facts->time.x_hi_ns, &span,
                                2 * view->matches[i].error_ns);
    e.contradicted = !cut(&e.matched, &b);
    e.expected = e.matched;
    if (ix_is_collective(op)) {
        e.is_expected = (uint8_t)entered_bounds(view, i, &facts->time, from, to, &b);
        if (e.is_expected)
            e.contradicted |= b.contradicted || !cut(&e.expected, &b);
        return e;
    }
    if (facts->class.known) {
        e.is_expected = 1;
        b = ix_expected_bounds(view, i, facts, from, to);
        e.contradicted |= !cut(&e.expected, &b);
    }
    if (ix_handshake_bounds(view, i, facts, from, to, &b)) {
        e.is_expected = 1;
        e.contradicted |= b.contradicted || !cut(&e.expected, &b);
    }
    return e;
}
