/* When a large message is asked for, where all that one process sends to another keeps its order,
 * as it does through one connection.
 *
 * The receiver answers the announcement inside MPI: as it posts the receive, where it had read the
 * announcement while it waited for something before; else in the call that completes the receive.
 * The answer goes the way of the receiver's own messages to the sender: behind one that it has
 * begun before, it arrives with the end of that one, and the two directions pass in turns. The
 * sender acts on the answer in the call that completes the send. */
#include "answers.h"

#include <stdlib.h>

/* Of a transfer's own time: how far the lower of two streams is ahead in turns. */
static const double AHEAD = 0.05;

int ix_answers_open(ix_run *run)
{
    int any = 0;
    for (int k = 0; k < IX_ROUTES; k++) {
        const ix_route *route = &run->network->route[k];
        any |= route->held == IX_HELD_BY_BOTH && route->kept_bytes > route->eager_bytes;
    }
    if (!any || run->network->sharing == IX_ONE_BY_ONE)
        return 0;
    uint64_t count = run->schedule->count;
    run->asked = malloc((count + 1) * sizeof *run->asked);
    if (!run->asked)
        return -1;
    for (uint64_t i = 0; i < count; i++)
        run->asked[i] = (ix_asked){IX_UNKNOWN, IX_NONE, IX_NONE, IX_NONE, IX_OWN, 0};
    return 0;
}

/* An answer, as if nothing were in its way. */
typedef struct ix_answer {
    double at_ns, acted_ns;
    int at_posting; /* given as the receive was posted */
    uint8_t why;    /* of acted_ns */
    uint32_t from;
} ix_answer;

/* The latest message of a stream to a peer that was handed over; IX_NONE: none. */
static uint32_t latest(const ix_run *run, uint32_t stream, uint32_t peer)
{
    uint32_t k = run->streams[stream].handed;
    while (k != IX_NONE && run->schedule->ops[k].peer != peer)
        k = run->asked[k].next;
    return k;
}

static int answer_alone(const ix_run *run, uint32_t stream, const ix_pending *send,
                        ix_answer *answer)
{
    const ix_op *op = &run->schedule->ops[send->op];
    const ix_route *route = ix_route_of(run->schedule, run->network, stream, op->peer);
    double posted = run->time_ns[op->partner], sender = run->entered_ns[send->op];
    if (posted < 0 || sender < 0)
        return 0;
    /* The announcement waits behind what its sender had handed over before. */
    double announced = send->ready_ns;
    *answer = (ix_answer){.why = IX_OWN, .from = IX_NONE};
    uint32_t before = latest(run, stream, op->peer);
    while (before != IX_NONE && run->asked[before].at_ns > send->ready_ns)
        before = run->asked[before].before;
    if (before != IX_NONE) {
        if (run->time_ns[before] < 0)
            return 0;
        if (run->time_ns[before] > announced) {
            announced = run->time_ns[before];
            answer->why = IX_BEHIND;
            answer->from = before;
        }
    }
    double behind = answer->why == IX_BEHIND ? 0 : route->latency_ns;
    double left = run->asked[op->partner].at_ns;
    if (run->network->in_turns && stream < op->peer && left >= 0)
        left += AHEAD * route->byte_ns * ix_as_bytes(route, ix_bytes(op));
    answer->at_ns = announced;
    if (posted > answer->at_ns) {
        answer->at_ns = posted;
        answer->why = IX_POSTED;
    }
    answer->at_posting = announced + behind <= left;
    if (!answer->at_posting) {
        double receiver = run->entered_ns[op->partner];
        if (receiver < 0)
            return 0;
        if (receiver > answer->at_ns) {
            answer->at_ns = receiver;
            answer->why = IX_AWAITED2;
            answer->from = run->entered_op[op->partner];
        }
    }
    answer->acted_ns = answer->at_ns;
    if (sender > answer->acted_ns) {
        answer->acted_ns = sender;
        answer->why = IX_AWAITED;
        answer->from = run->entered_op[send->op];
    }
    return 1;
}

/* Whether the answer to `send` stands behind `other`, the other way, handed over at other_ns. */
static int stands_behind(const ix_run *run, const ix_pending *send, const ix_answer *answer,
                         uint64_t other, double other_ns, int other_at_posting)
{
    if (other_ns != answer->at_ns)
        return other_ns < answer->at_ns;
    /* Both in one call: what had come first is read first. */
    uint32_t receive = run->schedule->ops[other].partner;
    return !answer->at_posting && other_at_posting && run->time_ns[receive] < send->ready_ns;
}

static void hand_over(ix_run *run, uint32_t stream, uint64_t send, const ix_answer *answer)
{
    ix_asked *asked = &run->asked[send];
    uint32_t peer = run->schedule->ops[send].peer;
    uint32_t *link = &run->streams[stream].handed;
    while (*link != IX_NONE && run->schedule->ops[*link].peer != peer)
        link = &run->asked[*link].next;
    *asked = (ix_asked){.at_ns = answer->acted_ns,
                        .before = *link,
                        .next = *link == IX_NONE ? IX_NONE : run->asked[*link].next,
                        .from = answer->from,
                        .why = answer->why,
                        .at_posting = (uint8_t)answer->at_posting};
    *link = (uint32_t)send;
    if (run->times->asked_from)
        run->times->asked_from[send] = answer->from;
    ix_wake_waiting(run, stream, send);
}

int ix_is_asked(ix_run *run, uint32_t stream, const ix_pending *send)
{
    ix_answer answer, other;
    if (ix_is_handed_over(run, send->op))
        return 1;
    if (!answer_alone(run, stream, send, &answer))
        return 0;
    uint32_t peer = run->schedule->ops[send->op].peer;
    const ix_stream *receiver = &run->streams[peer];
    for (uint32_t k = receiver->sends_first; k < receiver->sends_end; k++) {
        const ix_pending *p = &receiver->sends[k];
        const ix_op *op = &run->schedule->ops[p->op];
        if (p->ready_ns < 0 || op->peer != stream || ix_is_handed_over(run, p->op) ||
            !ix_is_answered(run, ix_route_of(run->schedule, run->network, peer, stream), op))
            continue;
        if (answer_alone(run, peer, p, &other) &&
            stands_behind(run, send, &answer, p->op, other.acted_ns, other.at_posting))
            return 0;
    }
    uint32_t k = latest(run, peer, stream);
    while (k != IX_NONE &&
           !stands_behind(run, send, &answer, k, run->asked[k].at_ns, run->asked[k].at_posting))
        k = run->asked[k].before;
    if (k != IX_NONE) {
        if (run->time_ns[k] < 0)
            return 0;
        if (run->time_ns[k] > answer.acted_ns) {
            answer.acted_ns = run->time_ns[k];
            answer.why = IX_BEHIND;
            answer.from = k;
        }
    }
    hand_over(run, stream, send->op, &answer);
    return 1;
}

static void look_again(ix_run *run, uint32_t stream, uint32_t peer)
{
    const ix_stream *s = &run->streams[stream];
    for (uint32_t k = s->sends_first; k < s->sends_end; k++)
        if (s->sends[k].ready_ns >= 0 && run->schedule->ops[s->sends[k].op].peer == peer)
            ix_start_pending(run, stream, s->sends[k].op);
}

void ix_answers_arrived(ix_run *run, uint32_t stream, uint64_t op)
{
    if (!ix_is_handed_over(run, op))
        return;
    uint32_t peer = run->schedule->ops[op].peer;
    look_again(run, peer, stream);
    look_again(run, stream, peer);
}
