/* The critical path: from what ends last back to what let it, until a stream's beginning. */
#include "engine.h"

typedef struct ix_walk {
    const ix_schedule *schedule;
    const ix_network *network;
    const ix_times *times;
    ix_stretch *write;
    uint64_t room, count;
    uint32_t stream; /* where the walk is: */
    uint64_t op;     /* after this operation, */
    int before;      /* or after the computation before it */
    int begun;       /* it is through: the stream's beginning */
} ix_walk;

static ix_stretch *stretch(ix_walk *w, uint64_t op)
{
    static _Thread_local ix_stretch overflow;
    ix_stretch *s = w->count < w->room ? &w->write[w->count] : &overflow;
    w->count++;
    *s = (ix_stretch){.op = (uint32_t)op, .stream = w->stream};
    return s;
}

static uint32_t stream_of(const ix_schedule *s, uint64_t op)
{
    uint32_t low = 0, high = s->streams;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->first[middle] <= op)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void go_to(ix_walk *w, uint32_t stream, uint64_t op, int before)
{
    w->stream = stream;
    w->op = op;
    w->before = before;
}

/* Before the computation of an operation: after the one before it. */
static void step_back(ix_walk *w)
{
    const ix_schedule *s = w->schedule;
    ix_stretch *out = stretch(w, w->op);
    out->ns[IX_COMPUTATION] = ix_calc(&s->ops[w->op]);
    if (w->op > s->first[w->stream]) {
        go_to(w, w->stream, w->op - 1, 0);
        return;
    }
    out->ns[IX_LATENESS] = s->start_ns[w->stream];
    w->begun = 1;
}

/* From when a message had come back to what let it start; another message that it stood behind, or
 * UINT64_MAX. */
static uint64_t through_one(ix_walk *w, uint64_t send)
{
    const ix_schedule *s = w->schedule;
    const ix_op *op = &s->ops[send];
    uint32_t sender = stream_of(s, send);
    const ix_route *route = ix_route_of(s, w->network, sender, op->peer);
    double bytes = ix_as_bytes(route, ix_bytes(op)), turns = op->flags & IX_ROUND_TRIP ? 2 : 1;
    w->stream = sender;
    ix_stretch *out = stretch(w, send);
    if (!ix_is_site(s, op, (int64_t)send, w->network->free_site)) {
        out->ns[IX_LATENCY] = turns * route->latency_ns;
        out->ns[IX_BANDWIDTH] = route->byte_ns * bytes;
        out->latencies = route->counted ? turns : 0;
        out->bytes = route->counted ? bytes : 0;
        if (w->times->shared_ns) {
            double shared = w->times->shared_ns[send];
            out->ns[IX_BANDWIDTH] += shared;
            if (route->counted && route->byte_ns > 0)
                out->bytes += shared / route->byte_ns;
        }
    }
    for (;;) {
        uint8_t why = w->times->start_why[send];
        uint32_t from = w->times->from[send];
        op = &s->ops[send];
        if (why != IX_LINK) {
            if (why == IX_OWN) {
                ix_stretch *own = stretch(w, send);
                own->ns[IX_OVERHEAD] = route->send_ns;
                go_to(w, sender, send, 1);
            } else if (why == IX_BEHIND) {
                return from;
            } else if (why == IX_POSTED) {
                go_to(w, op->peer, op->partner, 1);
            } else {
                int of_sender = why == IX_AWAITED || why == IX_ENDED;
                int before = why == IX_AWAITED || why == IX_AWAITED2;
                go_to(w, of_sender ? sender : op->peer, from, before);
            }
            return UINT64_MAX;
        }
        /* The one before it on the link, perhaps of another stream of the process. */
        send = from;
        sender = w->stream = stream_of(s, send);
        op = &s->ops[send];
        route = ix_route_of(s, w->network, sender, op->peer);
        double moved = ix_as_bytes(route, ix_bytes(op));
        ix_stretch *link = stretch(w, send);
        link->ns[IX_BANDWIDTH] = route->gap_ns + route->byte_ns * moved;
        link->bytes = route->counted ? moved : 0;
    }
}

static void through_message(ix_walk *w, uint64_t send)
{
    while (send != UINT64_MAX)
        send = through_one(w, send);
}

/* From the wait for a send that left as it was asked for. */
static void asked(ix_walk *w, uint64_t send, uint8_t why)
{
    const ix_op *op = &w->schedule->ops[send];
    uint32_t from = w->times->asked_from[send];
    if (why == IX_BEHIND)
        through_message(w, from);
    else if (why == IX_POSTED)
        go_to(w, op->peer, op->partner, 1);
    else
        go_to(w, op->peer, from, 1);
}

/* From a probe to where its message was sent. */
static void announced(ix_walk *w, uint64_t probe)
{
    const ix_schedule *s = w->schedule;
    const ix_op *op = &s->ops[probe];
    const ix_route *route = ix_route_of(s, w->network, w->stream, op->peer);
    ix_stretch *out = stretch(w, probe);
    out->ns[IX_LATENCY] = route->latency_ns;
    out->ns[IX_OVERHEAD] = route->send_ns;
    out->latencies = route->counted;
    go_to(w, op->peer, op->partner, 1);
}

static void through_meeting(ix_walk *w, uint64_t own)
{
    const ix_schedule *s = w->schedule;
    const ix_meeting *m = &s->meetings[s->ops[own].partner];
    uint32_t k = 0;
    while (k < m->count && s->members[m->first + k] != own)
        k++;
    const double *parts = w->times->parts + 5 * (m->first + k);
    ix_stretch *out = stretch(w, own);
    out->ns[IX_LATENCY] = parts[0];
    out->ns[IX_BANDWIDTH] = parts[1];
    out->ns[IX_OVERHEAD] = parts[2];
    out->latencies = parts[3];
    out->bytes = parts[4];
    uint64_t origin = w->times->from[own];
    go_to(w, s->ops[origin].peer, origin, 1);
}

static double receive_ns(const ix_walk *w, const ix_op *op)
{
    return ix_route_of(w->schedule, w->network, w->stream, op->peer)->receive_ns;
}

static void after(ix_walk *w)
{
    const ix_op *op = &w->schedule->ops[w->op];
    uint8_t why = w->times->why[w->op];
    int remote = why == IX_REMOTE;
    uint64_t at = w->op;
    switch (op->kind) {
    case IX_SEND:
        if (remote) {
            through_message(w, at);
            return;
        }
        if (why != IX_OWN) {
            asked(w, at, why);
            return;
        }
        stretch(w, at)->ns[IX_OVERHEAD] =
            ix_route_of(w->schedule, w->network, w->stream, op->peer)->send_ns;
        break;
    case IX_WAIT_SEND:
        if (remote) {
            through_message(w, op->partner);
            return;
        }
        if (why != IX_OWN) {
            asked(w, op->partner, why);
            return;
        }
        break;
    case IX_RECV:
    case IX_WAIT_RECV:
        if (op->kind == IX_RECV && (!(op->flags & IX_BLOCKING) || op->partner == IX_NONE))
            break;
        stretch(w, at)->ns[IX_OVERHEAD] = receive_ns(w, op);
        if (remote) {
            through_message(w, op->partner);
            return;
        }
        break;
    case IX_WAIT_ARRIVAL:
        if (remote) {
            through_message(w, op->partner);
            return;
        }
        if (why == IX_ANNOUNCED) {
            announced(w, at);
            return;
        }
        break;
    case IX_MEET:
    case IX_WAIT_MEET:
        if (remote) {
            through_meeting(w, op->kind == IX_MEET ? at : op->partner);
            return;
        }
        break;
    default:
        break;
    }
    w->before = 1;
}

uint64_t ix_critical_path(const ix_schedule *schedule, const ix_network *network,
                          const ix_times *times, ix_stretch *write, uint64_t room)
{
    ix_walk w = {schedule, network, times, write, room, 0, 0, 0, 0, 0};
    double latest = -1;
    int found = 0;
    for (uint32_t r = 0; r < schedule->streams; r++)
        if (schedule->first[r + 1] > schedule->first[r] && (!found || times->end_ns[r] > latest)) {
            latest = times->end_ns[r];
            w.stream = r;
            found = 1;
        }
    if (!found)
        return 0;
    w.op = schedule->first[w.stream + 1] - 1;
    while (!w.begun) {
        if (w.before)
            step_back(&w);
        else
            after(&w);
    }
    return w.count;
}
