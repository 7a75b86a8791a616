/* When messages start, and when they have arrived. */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "lanes.h"
#include "orders.h"

static const ix_route *route_of(const ix_run *run, uint32_t stream, const ix_op *op)
{
    return ix_route_of(run->schedule, run->network, stream, op->peer);
}

static int is_free(const ix_run *run, const ix_op *op, uint64_t index)
{
    return run->network->free_site >= 0 &&
           ix_is_site(run->schedule, op, (int64_t)index, run->network->free_site);
}

void ix_wake_waiting(ix_run *run, uint32_t stream, uint64_t op)
{
    if (!run->awaiting)
        return;
    /* Another thread of the process may wait for it; those of a process stand together. */
    const uint32_t *process = run->schedule->process;
    uint32_t first = stream, end = stream + 1;
    while (first && process[first - 1] == process[stream])
        first--;
    while (end < run->schedule->streams && process[end] == process[stream])
        end++;
    for (uint32_t s = first; s < end; s++)
        if (run->streams[s].waits == op) {
            run->awaiting--;
            ix_wake(run, s);
        }
}

static void arrived(ix_run *run, uint32_t stream, uint64_t op, double at_ns)
{
    double before = run->time_ns[op];
    run->time_ns[op] = at_ns;
    if (before < IX_UNKNOWN)
        ix_wake_all(run, before);
    ix_wake_waiting(run, stream, op);
    ix_answers_arrived(run, stream, op);
}

static void told(ix_run *run, uint64_t index, uint8_t why, uint32_t from)
{
    if (!run->times->start_why)
        return;
    run->times->start_why[index] = why;
    run->times->from[index] = from;
    if (run->times->shared_ns)
        run->times->shared_ns[index] = 0;
}

static void start(ix_run *run, uint32_t stream, uint64_t index, double ready, uint8_t why,
                  uint32_t from)
{
    const ix_op *op = &run->schedule->ops[index];
    const ix_route *route = route_of(run, stream, op);
    double at = ready;
    if (run->lanes)
        ix_lanes_start(run, stream, index, is_free(run, op, index));
    if (ix_is_to_itself(run->schedule, stream, op)) {
        at += route->latency_ns + route->byte_ns * ix_as_bytes(route, ix_bytes(op));
    } else if (!is_free(run, op, index)) {
        double moves = route->byte_ns * ix_as_bytes(route, ix_bytes(op));
        double takes = route->gap_ns + moves;
        if (run->network->sharing != IX_ONE_BY_ONE) {
            const uint32_t *process = run->schedule->process;
            told(run, index, why, from);
            double flies = route->latency_ns * (op->flags & IX_ROUND_TRIP ? 2 : 1);
            ix_links_offer(&run->shared,
                           (ix_flow){ready, takes, flies - route->gap_ns, (uint32_t)index,
                                     process[stream], process[op->peer], stream, IX_NONE});
            return;
        }
        ix_link *link = &run->links[run->schedule->process[stream]];
        /* Nothing waits for a message that leaves only later. */
        if (ready >= link->latest_ns) {
            if (link->free_ns > ready) {
                at = link->free_ns;
                why = IX_LINK;
                from = link->last;
            }
            link->latest_ns = ready;
        }
        if (at + takes >= link->free_ns) {
            link->free_ns = at + takes;
            link->last = (uint32_t)index;
        }
        at += route->latency_ns * (op->flags & IX_ROUND_TRIP ? 2 : 1) + moves;
    }
    told(run, index, why, from);
    arrived(run, stream, index, at);
}

void ix_send_through(ix_run *run, const ix_through *through)
{
    if (run->times->shared_ns)
        run->times->shared_ns[through->op] = through->shared_ns;
    arrived(run, through->stream, through->op, through->at_ns);
}

/* Whether all is known that a send waits for; then when it can start, and why then. */
static int can_start(ix_run *run, uint32_t stream, const ix_pending *send, int stalled,
                     double *ready, uint8_t *why, uint32_t *from)
{
    const ix_op *op = &run->schedule->ops[send->op];
    const ix_route *route = route_of(run, stream, op);
    *ready = send->ready_ns;
    *why = IX_OWN;
    *from = IX_NONE;
    if (run->lanes)
        ix_lanes_ready(run, stream, send->op);
    if (ix_is_eager(run, route, op, send->op))
        return 1;
    double posted = run->time_ns[op->partner];
    if (posted < 0)
        return 0;
    if (run->lanes)
        ix_lanes_ready_posted(run, op->partner);
    if (posted > *ready) {
        *ready = posted;
        *why = IX_POSTED;
    }
    int held = route->held;
    if (!held || (run->network->driven_site >= 0 &&
                  ix_is_site(run->schedule, op, (int64_t)send->op, run->network->driven_site)))
        return 1;
    int answered = ix_is_answered(run, route, op) && !stalled;
    if (answered) {
        if (!ix_is_asked(run, stream, send))
            return 0;
        const ix_asked *asked = &run->asked[send->op];
        *ready = asked->at_ns;
        *why = asked->why;
        *from = asked->from;
    }
    for (int side = answered; side < 2; side++) {
        uint64_t index = side ? op->partner : send->op;
        const uint32_t number = side ? op->peer : stream;
        const ix_stream *s = &run->streams[number];
        if (!(held & (side ? IX_HELD_BY_RECEIVER : IX_HELD_BY_SENDER)))
            continue;
        double at = run->entered_ns[index];
        uint32_t call = run->entered_op[index];
        int ended = 0;
        if (at < 0 && stalled) {
            /* It is in some call, which moves data as well as the one that completes this. */
            ended = s->over;
            at = ended ? s->clock_ns : s->entered_ns;
            call = (uint32_t)(ended ? run->schedule->first[number + 1] - 1 : s->call);
        }
        if (at < 0)
            return 0;
        if (run->lanes && run->entered_ns[index] < 0)
            ix_lanes_ready_inside(run, number, ended);
        else if (run->lanes)
            ix_lanes_ready_completed(run, index);
        if (at > *ready) {
            *ready = at;
            *why = ended ? (side ? IX_ENDED2 : IX_ENDED) : (side ? IX_AWAITED2 : IX_AWAITED);
            *from = call;
        }
    }
    return 1;
}

static void keep(ix_run *run, ix_stream *s, ix_pending send)
{
    if (s->sends_end == s->sends_room) {
        if (s->sends_first > s->sends_room / 2) {
            memmove(s->sends, s->sends + s->sends_first,
                    (s->sends_end - s->sends_first) * sizeof *s->sends);
            s->sends_end -= s->sends_first;
            s->sends_first = 0;
        } else {
            uint32_t room = s->sends_room ? 2 * s->sends_room : 8;
            ix_pending *more = realloc(s->sends, room * sizeof *more);
            if (!more) {
                run->failed = 1;
                return;
            }
            s->sends = more;
            s->sends_room = room;
        }
    }
    s->sends[s->sends_end++] = send;
    run->waiting++;
}

/* Sends that share links start in the order of time; else those of a stream in its own. */
static int in_any_order(const ix_run *run)
{
    return run->network->sharing != IX_ONE_BY_ONE;
}

void ix_send_issued(ix_run *run, uint32_t stream, uint64_t op, double ready_ns)
{
    ix_stream *s = &run->streams[stream];
    ix_pending send = {op, ready_ns};
    double ready;
    uint8_t why;
    uint32_t from;
    int starts_now = in_any_order(run) || s->sends_first == s->sends_end ||
                     ix_is_to_itself(run->schedule, stream, &run->schedule->ops[op]);
    if (starts_now && can_start(run, stream, &send, 0, &ready, &why, &from)) {
        start(run, stream, op, ready, why, from);
        return;
    }
    keep(run, s, send);
    if (run->lanes)
        ix_lanes_keep(run, stream, op);
    double before = run->time_ns[op];
    if (before < IX_UNKNOWN) {
        /* Who probes for it can be told. */
        run->time_ns[op] = IX_UNKNOWN;
        ix_wake_all(run, before);
    }
}

/* A send that could not start yet; NULL: it has, or is not issued. */
static ix_pending *find_pending(const ix_stream *s, uint64_t op)
{
    uint32_t low = s->sends_first, high = s->sends_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->sends[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    int found = low < s->sends_end && s->sends[low].op == op && s->sends[low].ready_ns >= 0;
    return found ? &s->sends[low] : NULL;
}

static void forget(ix_run *run, ix_stream *s, ix_pending *send)
{
    send->ready_ns = -1;
    run->waiting--;
    while (s->sends_first < s->sends_end && s->sends[s->sends_first].ready_ns < 0)
        s->sends_first++;
    if (s->sends_first == s->sends_end)
        s->sends_first = s->sends_end = 0;
}

void ix_start_pending(ix_run *run, uint32_t stream, uint64_t op)
{
    ix_stream *s = &run->streams[stream];
    double ready;
    uint8_t why;
    uint32_t from;
    while (s->sends_first < s->sends_end) {
        ix_pending *send = in_any_order(run) ? find_pending(s, op) : &s->sends[s->sends_first];
        if (!send || !can_start(run, stream, send, 0, &ready, &why, &from))
            return;
        uint64_t index = send->op;
        forget(run, s, send);
        start(run, stream, index, ready, why, from);
    }
}

/* Where a send that could not start yet stands. */
static ix_pending *pending_of(ix_run *run, uint64_t op, uint32_t *stream)
{
    *stream = 0;
    while (run->schedule->first[*stream + 1] <= op)
        ++*stream;
    return find_pending(&run->streams[*stream], op);
}

int ix_start_out_of_turn(ix_run *run)
{
    double best_ready = 0, ready;
    ix_pending *best = NULL;
    uint32_t best_stream = IX_NONE, from;
    uint8_t why;
    if (run->lanes)
        ix_orders_meet(run);
    for (uint32_t r = 0; run->waiting && r < run->schedule->streams; r++) {
        const ix_stream *s = &run->streams[r];
        for (uint32_t k = s->sends_first; k < s->sends_end; k++) {
            if (s->sends[k].ready_ns < 0 ||
                !can_start(run, r, &s->sends[k], 1, &ready, &why, &from))
                continue;
            if (run->lanes)
                ix_lanes_candidate(run, s->sends[k].op, !best);
            if (!best || ready < best_ready) {
                best_ready = ready;
                best = &s->sends[k];
                best_stream = r;
            }
        }
    }
    if (!best)
        return run->lanes && ix_orders_ended(run);
    if (run->lanes)
        best = pending_of(run, ix_orders_divide(run), &best_stream);
    uint64_t index = best->op;
    can_start(run, best_stream, best, 1, &best_ready, &why, &from);
    forget(run, &run->streams[best_stream], best);
    start(run, best_stream, index, best_ready, why, from);
    ix_start_pending(run, best_stream, index);
    return 1;
}

double ix_announced_ns(const ix_run *run, uint32_t stream, uint64_t op)
{
    const ix_pending *send = find_pending(&run->streams[stream], op);
    return send ? send->ready_ns + route_of(run, stream, &run->schedule->ops[op])->latency_ns : -1;
}
