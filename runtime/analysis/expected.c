/* What a probe measured of the path, applied to who was inside MPI when: a walk through the phases
 * of the other side. Amounts of data are in ns at the full rate of the path. */
#include "analysis/evidence.h"

typedef struct phase {
    int64_t from, to;
    int64_t drives_min, drives_max; /* how long the other side was inside MPI and drove it */
    uint8_t posted;                 /* 0: the receive was not posted yet */
    uint8_t completing;             /* the other side is in the call that completes it */
    uint8_t own_completing;         /* and so is this one, where it is inside MPI at all */
} phase;

typedef struct amounts {
    int64_t hidden_min, hidden_max, exposed_min, exposed_max;
} amounts;

enum { PHASES = 12 };

/* A call that begins the message and completes it too. */
static int other_blocks(const ix_match *m)
{
    return m->other.end_exit == m->other.start_exit && m->other.between == 0;
}

/* [from, to) cut where a side enters or leaves its start or its end, or the receive is posted. */
static int phases_of(const ix_view *view, uint32_t i, int64_t from, int64_t to, int64_t posted,
                     phase *phases)
{
    const ix_match *m = &view->matches[i];
    const ix_op *op = &view->ops[i], *end = &view->ops[op->end_call];
    int64_t cuts[] = {m->other.start_enter, m->other.start_exit, m->other.end_enter,
                      m->other.end_exit,    op->enter_ns,        op->exit_ns,
                      end->enter_ns,        end->exit_ns,        posted};
    int count = 0;
    for (int64_t at = from; at < to && count < PHASES;) {
        int64_t next = to;
        for (unsigned i = 0; i < sizeof cuts / sizeof *cuts; i++)
            if (cuts[i] > at && cuts[i] < next)
                next = cuts[i];
        phase *p = &phases[count++];
        *p = (phase){.from = at, .to = next, .drives_max = next - at, .posted = at >= posted};
        int in_start = at >= m->other.start_enter && next <= m->other.start_exit;
        int between = at >= m->other.start_exit && next <= m->other.end_enter;
        p->completing = (at >= m->other.end_enter && next <= m->other.end_exit) ||
                        (in_start && other_blocks(m));
        p->own_completing = at >= end->enter_ns && next <= end->exit_ns;
        if (p->completing)
            p->drives_min = next - at;
        else if (between && m->other.between >= 0)
            p->drives_max = ix_least(m->other.between, next - at);
        at = next;
    }
    return count;
}

static int64_t at_rate(int64_t ns, int16_t rate, int up)
{
    __int128 amount = (__int128)ns * rate;
    return (int64_t)((amount + (up ? IX_RATE_ONE - 1 : 0)) / IX_RATE_ONE);
}

/* The most (or least) data in `time` of this side's state, of which the other side drove it from
 * inside MPI for in_min to in_max. */
static int64_t most_data(int64_t time, int64_t in_min, int64_t in_max, int16_t in, int16_t out)
{
    int64_t inside = in >= out ? ix_least(in_max, time) : ix_least(ix_most(in_min, 0), time);
    return at_rate(inside, in, 1) + at_rate(time - inside, out, 1);
}

static int64_t least_data(int64_t time, int64_t in_min, int64_t in_max, int16_t in, int16_t out)
{
    int64_t inside = in >= out ? ix_least(ix_most(in_min, 0), time) : ix_least(in_max, time);
    return at_rate(inside, in, 0) + at_rate(time - inside, out, 0);
}

/* Rates of a class while this side is in a call: in one that does not complete the message it may
 * drive it or not, as a start does. */
typedef struct call_rates {
    int16_t lo_in, lo_out, hi_in, hi_out; /* the other side drives it too, or not */
} call_rates;

static call_rates rates_in_call(const ix_class *c, int completing, int own, int other)
{
    const int both = own | other;
    call_rates r = {c->rate_lo[both], c->rate_lo[own], c->rate_hi[both], c->rate_hi[own]};
    if (completing)
        return r;
    r.lo_in = r.lo_in < c->rate_lo[other] ? r.lo_in : c->rate_lo[other];
    r.lo_out = r.lo_out < c->rate_lo[0] ? r.lo_out : c->rate_lo[0];
    r.hi_in = r.hi_in > c->rate_hi[other] ? r.hi_in : c->rate_hi[other];
    r.hi_out = r.hi_out > c->rate_hi[0] ? r.hi_out : c->rate_hi[0];
    return r;
}

/* Neither side has anything else to move where a lowest rate that is not 0 counts. */
static int has_its_link(const ix_match *m, const ix_transfer_facts *facts)
{
    uint8_t needed = facts->class.rate_lo[0] ? IX_UNDIVIDED : IX_UNDIVIDED_AT_ITS_END;
    return facts->alone && m->undivided >= needed && m->other.undivided >= needed;
}

static amounts amounts_of(const ix_view *view, uint32_t i, const phase *p,
                          const ix_transfer_facts *facts, int own, int other)
{
    ix_span span = ix_view_span(view, i, p->from, p->to);
    const ix_class *c = &facts->class;
    if (!p->posted) { /* nothing was measured of a message whose receive is not posted */
        if (c->returns == 0)
            return (amounts){0};
        return (amounts){.hidden_max = span.compute_max, .exposed_max = span.call_max};
    }
    const call_rates in_call = rates_in_call(c, p->own_completing, own, other);
    amounts a;
    a.hidden_max = most_data(span.compute_max, p->drives_min - span.call_max, p->drives_max,
                             c->rate_hi[other], c->rate_hi[0]);
    a.exposed_max = most_data(span.call_max, p->drives_min - span.compute_max, p->drives_max,
                              in_call.hi_in, in_call.hi_out);
    a.hidden_min = least_data(span.compute_min, p->drives_min - span.call_max, p->drives_max,
                              c->rate_lo[other], c->rate_lo[0]);
    a.exposed_min = least_data(span.call_min, p->drives_min - span.compute_max, p->drives_max,
                               in_call.lo_in, in_call.lo_out);
    if (has_its_link(&view->matches[i], facts))
        return a;
    /* It may have shared its link, unless its receiver copies it and nothing else meanwhile. */
    a.exposed_min = 0;
    if (!(p->completing && other == IX_RECEIVER_IN && view->matches[i].other.undivided &&
          ix_receiver_moves(c)))
        a.hidden_min = 0;
    return a;
}

/* How much of x is moved in one way, when in every phase as much as possible goes the other way
 * first; what no phase explains goes this way if `rest`. */
static int64_t walk(int64_t x, const int64_t *first, const int64_t *then, int count, int rest)
{
    int64_t moved = 0;
    for (int i = 0; i < count && x > 0; i++) {
        x -= ix_least(x, first[i]);
        int64_t now = ix_least(x, then[i]);
        moved += now;
        x -= now;
    }
    return moved + (rest ? x : 0);
}

ix_bounds ix_expected_bounds(const ix_view *view, uint32_t i, const ix_transfer_facts *facts,
                             int64_t from_ns, int64_t to_ns)
{
    const ix_op *op = &view->ops[i];
    const ix_match *m = &view->matches[i];
    const int sends = ix_is_send(op);
    int64_t posted = sends ? m->other.start_enter : op->enter_ns;
    int64_t slack = 2 * m->error_ns, x_lo = facts->time.x_lo_ns, x_hi = facts->time.x_hi_ns;
    /* Of a rendezvous the first fragment may come before the receive. */
    if (facts->class.returns == 0 && posted > from_ns)
        slack += facts->time.head_ns == IX_UNKNOWN ? x_hi : facts->time.head_ns;
    phase phases[PHASES];
    int count = phases_of(view, i, from_ns, to_ns, posted, phases);
    int64_t hidden_min[PHASES], hidden_max[PHASES], exposed_min[PHASES], exposed_max[PHASES];
    for (int k = 0; k < count; k++) {
        amounts a = amounts_of(view, i, &phases[k], facts, sends ? IX_SENDER_IN : IX_RECEIVER_IN,
                               sends ? IX_RECEIVER_IN : IX_SENDER_IN);
        hidden_min[k] = a.hidden_min;
        hidden_max[k] = a.hidden_max;
        exposed_min[k] = a.exposed_min;
        exposed_max[k] = a.exposed_max;
    }
    static const int64_t none[PHASES];
    ix_bounds b = {0};
    int64_t hidden_most = walk(x_hi, none, hidden_max, count, 0);
    int64_t exposed_most = walk(x_hi, none, exposed_max, count, 0);
    b.overlap_max_ns = ix_least(x_hi, hidden_most + slack);
    b.exposed_max_ns = ix_least(x_hi, exposed_most + slack);
    /* All of x has moved by the end; the rates of this machine do not let it: nothing is certain.
     */
    if (x_lo > hidden_most + exposed_most + slack) {
        b.contradicted = 1;
        b.overlap_max_ns = b.exposed_max_ns = x_hi;
        return b;
    }
    b.overlap_min_ns = ix_most(0, walk(x_lo, exposed_max, hidden_min, count, 1) - slack);
    b.exposed_min_ns = ix_most(0, walk(x_lo, hidden_max, exposed_min, count, 1) - slack);
    /* At the lowest rates of the other state the message may be over before this one begins. */
    b.overlap_max_ns = ix_least(
        b.overlap_max_ns, ix_most(x_hi - walk(x_hi, hidden_max, exposed_min, count, 1), 0) + slack);
    b.exposed_max_ns = ix_least(
        b.exposed_max_ns, ix_most(x_hi - walk(x_hi, exposed_max, hidden_min, count, 1), 0) + slack);
    b.overlap_min_ns = ix_least(b.overlap_min_ns, b.overlap_max_ns);
    b.exposed_min_ns = ix_least(b.exposed_min_ns, b.exposed_max_ns);
    return b;
}
