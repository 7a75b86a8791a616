#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "lanes.h"
#include "orders.h"

/* Operations are fetched from memory so many ahead: until a stream goes on, others do, which leave
 * nothing of it in the nearest caches. */
enum { FETCHED = 16 };

int ix_run_start(ix_run *run)
{
    const ix_schedule *s = run->schedule;
    int held = 0;
    uint32_t most = 1;
    for (int k = 0; k < IX_ROUTES; k++)
        held |= run->network->route[k].held;
    for (uint32_t m = 0; m < s->meeting_count; m++)
        most = s->meetings[m].count > most ? s->meetings[m].count : most;
    run->time_ns = run->times->time_ns;
    size_t streams_bytes = (s->streams + (size_t)1) * sizeof *run->streams;
    run->streams = aligned_alloc(IX_LINE, streams_bytes);
    if (run->streams)
        memset(run->streams, 0, streams_bytes);
    run->links = calloc(s->processes + 1, sizeof *run->links);
    run->missing = malloc((s->meeting_count + (size_t)1) * sizeof *run->missing);
    run->enter = malloc(most * sizeof *run->enter);
    run->leave = malloc(most * sizeof *run->leave);
    run->scratch = malloc(most * 16 * sizeof *run->scratch);
    run->from = malloc(most * sizeof *run->from);
    if (held) {
        run->entered_ns = malloc((s->count + 1) * sizeof *run->entered_ns);
        run->entered_op = malloc((s->count + 1) * sizeof *run->entered_op);
    }
    if (run->network->sharing != IX_ONE_BY_ONE &&
        ix_links_open(&run->shared, s->processes, s->streams, run->network->sharing == IX_IN_ORDER))
        return -1;
    if (!run->streams || !run->links || !run->missing || !run->enter || !run->leave ||
        !run->scratch || !run->from || (held && (!run->entered_ns || !run->entered_op)) ||
        ix_answers_open(run))
        return -1;
    for (uint64_t i = 0; i < s->count; i++)
        run->time_ns[i] = IX_UNKNOWN;
    for (uint64_t i = 0; held && i < s->count; i++)
        run->entered_ns[i] = IX_UNKNOWN;
    for (uint32_t m = 0; m < s->meeting_count; m++)
        run->missing[m] = s->meetings[m].count;
    run->head = run->tail = IX_NONE;
    for (uint32_t r = 0; r < s->streams; r++) {
        ix_stream *stream = &run->streams[r];
        stream->clock_ns = stream->entered_ns = s->start_ns[r];
        stream->next = stream->call = s->first[r];
        stream->end = s->first[r + 1];
        stream->waits = UINT64_MAX;
        stream->left_ns = IX_UNKNOWN;
        stream->handed = IX_NONE;
        ix_wake(run, r);
    }
    return 0;
}

void ix_run_end(ix_run *run)
{
    for (uint32_t r = 0; run->streams && r < run->schedule->streams; r++)
        free(run->streams[r].sends);
    free(run->streams);
    free(run->links);
    ix_links_close(&run->shared);
    free(run->missing);
    free(run->enter);
    free(run->leave);
    free(run->scratch);
    free(run->from);
    free(run->entered_ns);
    free(run->entered_op);
    free(run->asked);
}

void ix_wake(ix_run *run, uint32_t stream)
{
    run->streams[stream].waits = UINT64_MAX;
    run->streams[stream].queued = IX_NONE;
    if (run->tail == IX_NONE)
        run->head = stream;
    else
        run->streams[run->tail].queued = stream;
    run->tail = stream;
}

void ix_wake_all(ix_run *run, double time_ns)
{
    for (uint32_t stream = ix_first_waiting(time_ns), next; stream != IX_NONE; stream = next) {
        next = run->streams[stream].queued;
        ix_wake(run, stream);
    }
}

/* All have come: when each leaves. */
static void meet(ix_run *run, uint32_t number)
{
    const ix_schedule *s = run->schedule;
    const ix_meeting *m = &s->meetings[number];
    const uint32_t *members = s->members + m->first;
    double *parts = run->times->parts ? run->times->parts + 5 * m->first : NULL;
    for (uint32_t k = 0; k < m->count; k++)
        run->enter[k] = run->time_ns[members[k]];
    ix_meet(s, run->network, m, run->enter, run->leave, parts ? run->from : NULL, parts,
            run->scratch);
    for (uint32_t k = 0; k < m->count; k++) {
        uint32_t op = members[k], stream = s->ops[op].peer;
        if (run->lanes)
            ix_orders_keep(run, op);
        run->time_ns[op] = run->leave[k];
        if (parts)
            run->times->from[op] = members[run->from[k]];
        if (run->streams[stream].waits == op)
            ix_wake(run, stream);
    }
    if (run->lanes)
        ix_lanes_meet(run, m);
}

/* What an operation completes: what it began itself, or one before it did; or IX_NONE. */
static uint64_t completed_by(const ix_run *run, uint64_t i)
{
    const ix_op *op = &run->schedule->ops[i];
    if (op->kind == IX_WAIT_SEND)
        return op->partner;
    if (op->kind == IX_WAIT_RECV)
        return run->schedule->ops[op->partner].partner;
    return op->kind > IX_RECV || !(op->flags & IX_BLOCKING) ? IX_NONE : i;
}

/* The operations of the call that begins here complete transfers that may be held until now: all
 * are known before the first of them moves. */
static void enter_call(ix_run *run, uint32_t stream, uint64_t first)
{
    ix_stream *s = &run->streams[stream];
    uint64_t end = first + 1;
    s->call = first;
    s->entered_ns = s->clock_ns;
    if (!run->entered_ns)
        return;
    if (run->lanes)
        ix_lanes_enter(run, stream);
    while (end < s->end && !(run->schedule->ops[end].flags & IX_CALL))
        end++;
    for (uint64_t i = first; i < end; i++) {
        uint64_t begun = completed_by(run, i);
        if (begun == IX_NONE || run->entered_ns[begun] >= 0)
            continue;
        if (run->lanes)
            ix_lanes_completes(run, stream, begun);
        run->entered_ns[begun] = s->clock_ns;
        run->entered_op[begun] = (uint32_t)first;
    }
    for (uint64_t i = first; i < end; i++) {
        const ix_op *op = &run->schedule->ops[i];
        uint64_t begun = completed_by(run, i);
        if (begun == IX_NONE || run->entered_op[begun] != first || op->kind == IX_SEND)
            continue;
        int receives = op->kind == IX_WAIT_RECV || op->kind == IX_RECV;
        uint32_t sender = receives ? op->peer : stream;
        if (run->streams[sender].sends_end)
            ix_start_pending(run, sender, receives ? run->schedule->ops[begun].partner : begun);
    }
}

/* The message `send` must have come: 0 where that is not known yet. */
static int take(ix_run *run, uint32_t stream, uint64_t i, uint64_t send, double receive_ns)
{
    ix_stream *s = &run->streams[stream];
    double at = run->time_ns[send];
    if (at < 0) {
        /* What a put moves both its origin and its target may wait for. */
        if (run->lanes)
            ix_orders_keep(run, send);
        s->queued = ix_first_waiting(at);
        run->time_ns[send] = ix_wanted_by(stream);
        return 0;
    }
    if (run->times->why)
        run->times->why[i] = at > s->clock_ns ? IX_REMOTE : IX_OWN;
    s->clock_ns = (at > s->clock_ns ? at : s->clock_ns) + receive_ns;
    s->left_ns = s->clock_ns;
    if (run->lanes)
        ix_lanes_take(run, stream, send, receive_ns);
    return 1;
}

static int wait_own(ix_run *run, uint32_t stream, uint64_t i, uint64_t begun)
{
    ix_stream *s = &run->streams[stream];
    double at = run->time_ns[begun];
    if (run->times->why)
        run->times->why[i] = at > s->clock_ns ? IX_REMOTE : IX_OWN;
    s->clock_ns = at > s->clock_ns ? at : s->clock_ns;
    s->left_ns = s->clock_ns;
    if (run->lanes)
        ix_lanes_take(run, stream, begun, 0);
    return 1;
}

/* A send above the eager limit, of this process, in the operation that completes it. */
static int wait_send(ix_run *run, uint32_t stream, uint64_t i, uint64_t send)
{
    ix_stream *s = &run->streams[stream];
    if (ix_is_handed_over(run, send)) {
        double at = run->asked[send].at_ns;
        if (run->times->why)
            run->times->why[i] = at > s->clock_ns ? run->asked[send].why : IX_OWN;
        s->clock_ns = at > s->clock_ns ? at : s->clock_ns;
        s->left_ns = s->clock_ns;
        return 1;
    }
    if (run->time_ns[send] < 0) {
        s->waits = send;
        run->awaiting++;
        return 0;
    }
    return wait_own(run, stream, i, send);
}

/* A probe: the message is announced. */
static int look(ix_run *run, uint32_t stream, uint64_t i, const ix_op *op)
{
    double at = run->time_ns[op->partner];
    if (ix_is_over_at_once(run, op)) {
        if (run->times->why)
            run->times->why[i] = IX_OWN;
        return 1;
    }
    if (at < 0) {
        double announced = ix_announced_ns(run, op->peer, op->partner);
        if (announced >= 0) {
            ix_stream *s = &run->streams[stream];
            if (run->times->why)
                run->times->why[i] = announced > s->clock_ns ? IX_ANNOUNCED : IX_OWN;
            s->clock_ns = announced > s->clock_ns ? announced : s->clock_ns;
            if (run->lanes)
                ix_lanes_look(run, stream, op->peer, op->partner);
            return 1;
        }
    }
    return take(run, stream, i, op->partner, 0);
}

static int waits_for_meeting(ix_run *run, uint32_t stream, uint64_t begun)
{
    if (run->missing[run->schedule->ops[begun].partner] == 0)
        return 0;
    run->streams[stream].waits = begun;
    return 1;
}

static int step(ix_run *run, uint32_t stream, uint64_t i)
{
    const ix_schedule *schedule = run->schedule;
    ix_stream *s = &run->streams[stream];
    const ix_op *op = &schedule->ops[i];
    int resumed = s->resumed;
    if (!resumed) {
        s->clock_ns += ix_calc(op);
        if (run->lanes)
            ix_lanes_compute(run, stream, ix_calc(op));
        if (op->flags & IX_CALL)
            enter_call(run, stream, i);
    }
    switch (op->kind) {
    case IX_SEND: {
        const ix_route *route = ix_route_of(schedule, run->network, stream, op->peer);
        if (!resumed) {
            s->clock_ns += route->send_ns;
            if (run->lanes)
                ix_lanes_compute(run, stream, route->send_ns);
            ix_send_issued(run, stream, i, s->clock_ns);
        }
        if (!(op->flags & IX_BLOCKING) || ix_is_eager(run, route, op, i))
            return 1;
        return wait_send(run, stream, i, i);
    }
    case IX_RECV:
        if (!resumed) {
            if (run->lanes)
                ix_lanes_post(run, stream, i);
            run->time_ns[i] = s->clock_ns;
            ix_posts(run, stream, i);
            if (op->partner != IX_NONE && run->streams[op->peer].sends_end)
                ix_start_pending(run, op->peer, op->partner);
        }
        if (!(op->flags & IX_BLOCKING) || op->partner == IX_NONE)
            return 1;
        return take(run, stream, i, op->partner,
                    ix_route_of(schedule, run->network, stream, op->peer)->receive_ns);
    case IX_WAIT_RECV:
        return take(run, stream, i, op->partner,
                    ix_route_of(schedule, run->network, stream, op->peer)->receive_ns);
    case IX_WAIT_SEND: {
        const ix_op *begun = &schedule->ops[op->partner];
        const ix_route *route = ix_route_of(schedule, run->network, stream, begun->peer);
        if (ix_is_eager(run, route, begun, op->partner))
            return 1;
        return wait_send(run, stream, i, op->partner);
    }
    case IX_WAIT_ARRIVAL:
        return look(run, stream, i, op);
    case IX_MEET:
        if (!resumed) {
            if (run->lanes)
                ix_lanes_come(run, stream, i);
            run->time_ns[i] = s->clock_ns;
            if (--run->missing[op->partner] == 0)
                meet(run, op->partner);
        }
        if (!(op->flags & IX_BLOCKING))
            return 1;
        return waits_for_meeting(run, stream, i) ? 0 : wait_own(run, stream, i, i);
    case IX_WAIT_MEET:
        return waits_for_meeting(run, stream, op->partner) ? 0
                                                           : wait_own(run, stream, i, op->partner);
    default:
        return 1;
    }
}

static void go_on(ix_run *run, uint32_t stream)
{
    ix_stream *s = &run->streams[stream];
    for (; s->next < s->end; s->next++, s->resumed = 0) {
        if (s->next + FETCHED < s->end) {
            __builtin_prefetch(&run->schedule->ops[s->next + FETCHED]);
            __builtin_prefetch(&run->time_ns[s->next + FETCHED], 1);
        }
        if (!step(run, stream, s->next)) {
            s->resumed = 1;
            return;
        }
    }
    s->over = 1;
}

static int first_that_is_not_over(const ix_run *run, ix_stuck *stuck)
{
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        if (!run->streams[r].over) {
            *stuck = (ix_stuck){.stream = r, .op = run->streams[r].next};
            return 1;
        }
    return 0;
}

static int replay(ix_run *run, ix_stuck *stuck)
{
    while (!run->failed) {
        while (run->head != IX_NONE && !run->failed) {
            uint32_t stream = run->head;
            run->head = run->streams[stream].queued;
            if (run->head == IX_NONE)
                run->tail = IX_NONE;
            go_on(run, stream);
        }
        ix_through through;
        int passed = ix_links_pass(&run->shared, &through);
        if (passed == 2)
            ix_send_through(run, &through);
        if (!passed && (run->shared.failed || !ix_start_out_of_turn(run)))
            break;
    }
    run->failed |= run->shared.failed;
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        run->times->end_ns[r] = run->streams[r].clock_ns;
    return run->failed ? -1 : first_that_is_not_over(run, stuck);
}

int ix_replay(const ix_schedule *schedule, const ix_network *network, ix_times *times,
              ix_stuck *stuck)
{
    ix_run run = {.schedule = schedule, .network = network, .times = times};
    int result = ix_run_start(&run);
    if (result == 0)
        result = replay(&run, stuck);
    ix_run_end(&run);
    return result;
}

int ix_replay_lanes(const ix_schedule *schedule, ix_wide *wide, ix_times *times, ix_stuck *stuck)
{
    ix_lanes lanes = {0};
    ix_run run = {.schedule = schedule, .network = wide->networks, .times = times};
    int result = ix_run_start(&run);
    wide->gone = 0;
    if (result == 0) {
        run.lanes = &lanes;
        result = ix_lanes_open(&run, wide);
        if (result == 0) {
            result = replay(&run, stuck);
            wide->gone = ix_orders_gone(&run);
        }
        if (result == 0)
            ix_lanes_result(&run, wide->run_ns);
        ix_lanes_close(&run);
    }
    ix_run_end(&run);
    return run.failed == IX_TOO_WIDE ? IX_TOO_WIDE : result;
}
