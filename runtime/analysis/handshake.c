/* A message that waits for a handshake: the receiver answers the announcement in a call of its own,
 * the sender acts on the answer in one of its own. Until then nothing moves but what went along
 * with the announcement: docs/theory/measuring.md, "expected". */
#include "analysis/evidence.h"

enum { MOST_CALLS = 64 }; /* are looked at between a start and its end */

static int starts_something(const ix_view *view, const ix_op *op)
{
    int message = ix_is_send(op) || op->kind == IX_LOG_RECV;
    return message && ix_view_waits(view, op->operation) == IX_WAITS_NOT;
}

int ix_only_starts_until_end(const ix_view *view, uint32_t i)
{
    const ix_op *op = &view->ops[i];
    uint32_t end = op->end_call;
    if (end == IX_NO_END || end < i || !view->one_thread) /* another thread may drive it */
        return 0;
    int64_t logged = op->exit_ns - op->enter_ns;
    for (uint32_t k = i + 1; k <= end; k++) {
        const ix_op *next = &view->ops[k];
        if (k - i > MOST_CALLS || next->flags & IX_LOG_AFTER_PAUSE)
            return 0;
        if (next->enter_ns == op->enter_ns || next->enter_ns == view->ops[end].enter_ns)
            continue; /* of the call that starts it, or of the one that completes it */
        if (!starts_something(view, next))
            return 0;
        logged += next->flags & IX_LOG_FIRST ? next->exit_ns - next->enter_ns : 0;
    }
    return view->ops[end].enter_ns == op->enter_ns ||
           view->ops[end].call_before_ns - op->call_before_ns == logged;
}

/* The calls of one side, on this rank's clock. */
typedef struct side {
    int64_t start_enter, start_exit, end_enter;
    int only_starts; /* between start_exit and end_enter */
} side;

/* The earliest moment from `at` on at which a side can have been inside a call that drives the
 * message; its own start does, too. Clocks may be off by `slack`. */
static int64_t inside(const side *s, int64_t at, int64_t slack)
{
    if (s->only_starts && at - slack > s->start_exit && at < s->end_enter)
        return s->end_enter;
    return ix_most(at, s->start_enter);
}

int ix_handshake_bounds(const ix_view *view, uint32_t i, const ix_transfer_facts *facts,
                        int64_t from_ns, int64_t to_ns, ix_bounds *bounds)
{
    const ix_op *op = &view->ops[i], *end = &view->ops[op->end_call];
    const ix_match *m = &view->matches[i];
    const ix_handshake *h = &facts->handshake;
    if (!h->needs)
        return 0;
    int64_t slack = 2 * m->error_ns;
    side own = {op->enter_ns, op->exit_ns, ix_most(end->enter_ns, op->exit_ns),
                ix_only_starts_until_end(view, i)};
    side other = {m->other.start_enter, m->other.start_exit, m->other.end_enter,
                  m->other.only_starts};
    const side *sender = ix_is_send(op) ? &own : &other;
    const side *receiver = ix_is_send(op) ? &other : &own;
    int64_t at = sender->start_enter;
    if (h->needs & IX_RECEIVER_IN)
        at = inside(receiver, ix_most(at + h->latency_ns, receiver->start_enter), slack);
    if (h->needs & IX_SENDER_IN)
        at = inside(sender, at + h->latency_ns, slack);
    if (at - slack <= from_ns)
        return 0;
    ix_span span = ix_view_span(view, i, at - slack, to_ns);
    *bounds = ix_bound_span(facts->time.x_lo_ns, facts->time.x_hi_ns, &span, h->before_ns + slack);
    if (bounds->contradicted) /* it moved without a handshake: nothing follows */
        bounds->overlap_max_ns = bounds->exposed_max_ns = facts->time.x_hi_ns;
    return 1;
}
