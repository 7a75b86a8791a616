#include "analysis/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/evidence.h"

/* qsort has no context. */
static _Thread_local const ix_op *ops;

static int is_receive(const ix_op *op)
{
    return op->kind == IX_LOG_RECV;
}

/* -1, 0 or 1 by (peer, direction, comm, tag): one stream. */
static int by_stream(const ix_own_message *a, const ix_own_message *b)
{
    const ix_op *x = &ops[a->op], *y = &ops[b->op];
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (is_receive(x) != is_receive(y))
        return is_receive(x) ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int by_time(const void *a, const void *b)
{
    const ix_own_message *m = a, *n = b;
    int stream = by_stream(m, n);
    if (stream)
        return stream;
    const ix_op *x = &ops[m->op], *y = &ops[n->op];
    if (x->enter_ns != y->enter_ns)
        return x->enter_ns < y->enter_ns ? -1 : 1;
    return m->op < n->op ? -1 : m->op > n->op;
}

static int by_sequence(const void *a, const void *b)
{
    const ix_own_message *m = a, *n = b;
    int stream = by_stream(m, n);
    uint32_t x = ops[m->op].sequence, y = ops[n->op].sequence;
    return stream ? stream : x < y ? -1 : x > y;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int overlap(const ix_op *a, const ix_op *b)
{
    return a->thread != b->thread && b->enter_ns < a->exit_ns;
}

/* Of one stream in the order of posting: threads that posted at the same time leave open which came
 * first, so that no message of the stream is sure from there on. */
static void mark_ambiguous(ix_view *view, const ix_own_message *m, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (overlap(&ops[m[i - 1].op], &ops[m[i].op])) {
            view->matches[m[i - 1].op].state = IX_AMBIGUOUS;
            view->matches[m[i].op].state = IX_AMBIGUOUS;
        }
}

/* Posting order decides which receive a message gets; the log numbered wildcards later. */
static int number_receives(ix_view *view, const ix_own_message *m, uint32_t count)
{
    int wildcard = 0;
    for (uint32_t i = 0; i < count; i++)
        wildcard |= view->ops[m[i].op].flags & IX_LOG_WILDCARD;
    if (!wildcard)
        return 0;
    uint32_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = view->ops[m[i].op].sequence;
    qsort(numbers, count, sizeof *numbers, by_number);
    for (uint32_t i = 0; i < count; i++)
        view->ops[m[i].op].sequence = numbers[i];
    free(numbers);
    return 0;
}

static enum ix_match_state why_not(const ix_op *op, int32_t peer)
{
    if (op->flags & IX_LOG_CANCELLED)
        return IX_WITHDRAWN;
    if (op->kind == IX_LOG_PUT || op->kind == IX_LOG_GET || op->kind == IX_LOG_PARTS_SEND ||
        op->kind == IX_LOG_PARTS_RECV || op->kind == IX_LOG_PART_READY)
        return IX_NO_RULE;
    if (op->end_call == IX_NO_END && op->kind == IX_LOG_RECV && op->flags & IX_LOG_WILDCARD)
        return IX_END_UNKNOWN;
    if (op->flags & IX_LOG_UNCOUNTED || op->comm == 0)
        return IX_AMBIGUOUS;
    if (peer == IX_OTHER_TIME)
        return IX_CLOCKS;
    return peer < 0 ? IX_OUTSIDE : IX_MATCHED;
}

static int is_message(const ix_op *op)
{
    return (ix_is_send(op) || op->kind == IX_LOG_RECV) && op->peer != IX_LOG_PROC_NULL;
}

int ix_pairing_start(ix_pairing *pairing, ix_view *view, ix_world_rank *world_rank,
                     const void *context)
{
    uint32_t messages = 0, probes = 0;
    *pairing = (ix_pairing){0};
    for (uint32_t i = 0; i < view->count; i++) {
        messages += is_message(&view->ops[i]);
        probes += view->ops[i].kind == IX_LOG_PROBE;
    }
    pairing->messages = malloc((messages + (size_t)1) * sizeof *pairing->messages);
    pairing->probes = malloc((probes + (size_t)1) * sizeof *pairing->probes);
    if (!pairing->messages || !pairing->probes) {
        ix_pairing_end(pairing);
        return -1;
    }
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (op->kind == IX_LOG_PROBE) {
            view->matches[i].peer = op->peer < 0 ? -1 : world_rank(context, op->comm, op->peer);
            pairing->probes[pairing->probe_count++] = i;
            continue;
        }
        if (!is_message(op)) {
            if (!ix_is_collective(op))
                view->matches[i].state = IX_NO_RULE;
            continue;
        }
        int32_t peer = op->peer < 0 ? -1 : world_rank(context, op->comm, op->peer);
        enum ix_match_state state = why_not(op, peer);
        view->matches[i] = (ix_match){.state = IX_NOT_LOGGED, .peer = peer < 0 ? -1 : peer};
        if (state == IX_MATCHED)
            pairing->messages[pairing->count++] = (ix_own_message){i, peer};
        else
            view->matches[i].state = (uint8_t)state;
    }
    ops = view->ops;
    qsort(pairing->messages, pairing->count, sizeof *pairing->messages, by_time);
    int sorted = 1;
    for (uint32_t first = 0, next; first < pairing->count; first = next) {
        ix_own_message *m = pairing->messages + first;
        for (next = first + 1; next < pairing->count && !by_stream(m, pairing->messages + next);
             next++)
            sorted =
                sorted && ops[m[next - first - 1].op].sequence < ops[m[next - first].op].sequence;
        mark_ambiguous(view, m, next - first);
        if (is_receive(&ops[m->op]) && number_receives(view, m, next - first)) {
            ix_pairing_end(pairing);
            return -1;
        }
    }
    if (!sorted) /* threads count in another order than they enter */
        qsort(pairing->messages, pairing->count, sizeof *pairing->messages, by_sequence);
    return 0;
}

void ix_pairing_end(ix_pairing *pairing)
{
    free(pairing->messages);
    free(pairing->probes);
    *pairing = (ix_pairing){0};
}

uint32_t ix_pairing_run(const ix_pairing *pairing, uint32_t first)
{
    uint32_t next = first;
    while (next < pairing->count && pairing->messages[next].peer == pairing->messages[first].peer)
        next++;
    return next - first;
}

void ix_pairing_tell(const ix_pairing *pairing, const ix_view *view, uint32_t first, uint32_t count,
                     ix_told *told)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = pairing->messages[first + i].op;
        const ix_op *op = &view->ops[at];
        told[i] = (ix_told){.comm = op->comm,
                            .tag = op->tag,
                            .sequence = op->sequence,
                            .kind = op->kind,
                            .bytes = op->bytes,
                            .start_enter = op->enter_ns,
                            .start_exit = op->exit_ns,
                            .end_enter = INT64_MAX,
                            .end_exit = INT64_MAX};
        if (op->flags & IX_LOG_FAILED)
            told[i].bytes = -1;
        if (view->matches[at].state == IX_AMBIGUOUS)
            told[i].sequence = 0;
        if (op->end_call == IX_NO_END)
            continue;
        const ix_op *end = &view->ops[op->end_call];
        told[i].end_enter = end->enter_ns;
        told[i].end_exit = end->exit_ns;
        if (op->end_call == at || end->enter_ns <= op->exit_ns)
            told[i].end_enter = op->exit_ns;
        else if (end->thread == op->thread)
            told[i].between =
                end->call_before_ns - op->call_before_ns - (op->exit_ns - op->enter_ns);
        else /* nobody knows what its own thread did */
            told[i].between = -1;
    }
}

/* Where a message (its sequence included) is among the own ones, or the first behind it. */
static uint32_t place_of(const ix_pairing *pairing, const ix_view *view, int32_t peer, int receive,
                         const ix_told *told)
{
    uint32_t low = 0, high = pairing->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ix_own_message *m = &pairing->messages[middle];
        const ix_op *op = &view->ops[m->op];
        int before = m->peer != peer             ? m->peer < peer
                     : is_receive(op) != receive ? is_receive(op)
                     : op->comm != told->comm    ? op->comm < told->comm
                     : op->tag != told->tag      ? op->tag < told->tag
                                                 : op->sequence < told->sequence;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_it(const ix_pairing *pairing, const ix_view *view, uint32_t at, int32_t peer,
                 int receive, const ix_told *told)
{
    if (at >= pairing->count || pairing->messages[at].peer != peer)
        return 0;
    const ix_op *op = &view->ops[pairing->messages[at].op];
    return is_receive(op) == receive && op->comm == told->comm && op->tag == told->tag &&
           op->sequence == told->sequence;
}

static void match(ix_view *view, uint32_t i, const ix_told *told, int64_t error_ns)
{
    const ix_op *op = &view->ops[i];
    ix_match *m = &view->matches[i];
    int receive = is_receive(op);
    if (m->state == IX_AMBIGUOUS)
        return;
    int64_t sent = receive ? told->bytes : op->bytes, got = receive ? op->bytes : told->bytes;
    int known = !(op->flags & IX_LOG_FAILED) && told->bytes >= 0 &&
                (receive ? op->end_call != IX_NO_END : told->end_exit != INT64_MAX);
    m->error_ns = error_ns;
    m->other.start_enter = told->start_enter;
    m->other.start_exit = told->start_exit;
    m->other.end_enter = told->end_enter;
    m->other.end_exit = told->end_exit;
    m->other.between = told->between;
    if (receive && told->end_exit == INT64_MAX) { /* a send that was given up did begin */
        m->other.end_enter = m->other.end_exit = m->other.start_exit;
        m->other.between = -1;
    }
    if (known && got > sent)
        m->state = IX_SIZES_DIFFER;
    else if (op->end_call == IX_NO_END || (!receive && told->end_exit == INT64_MAX))
        m->state = IX_END_UNKNOWN;
    else if (receive ? m->other.start_enter - error_ns > view->ops[op->end_call].exit_ns
                     : op->enter_ns - error_ns > m->other.end_exit)
        m->state = IX_CLOCKS; /* it came before it left */
    else
        m->state = IX_MATCHED;
}

void ix_pairing_hear(const ix_pairing *pairing, ix_view *view, int32_t peer, const ix_told *told,
                     size_t count, int64_t error_ns)
{
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        int receive = told[i].kind != IX_LOG_RECV; /* what it sent I received */
        if (told[i].sequence == 0)
            continue;
        if (!is_it(pairing, view, at, peer, receive, &told[i]))
            at = place_of(pairing, view, peer, receive, &told[i]);
        if (!is_it(pairing, view, at, peer, receive, &told[i]))
            continue;
        match(view, pairing->messages[at].op, &told[i], error_ns);
        at++;
    }
}

/* The receive of the probed message is the first of its stream that was not posted before. */
static uint32_t probed(const ix_pairing *pairing, const ix_view *view, uint32_t probe, int32_t peer)
{
    const ix_op *op = &view->ops[probe];
    ix_told first = {.comm = op->comm, .tag = op->tag};
    uint32_t at = place_of(pairing, view, peer, 1, &first);
    for (; at < pairing->count && pairing->messages[at].peer == peer; at++) {
        const ix_op *receive = &view->ops[pairing->messages[at].op];
        if (!is_receive(receive) || receive->comm != op->comm || receive->tag != op->tag)
            break;
        if (receive->enter_ns >= op->exit_ns)
            return pairing->messages[at].op;
    }
    return IX_NO_END;
}

void ix_pairing_probes(const ix_pairing *pairing, ix_view *view)
{
    for (uint32_t i = 0; i < pairing->probe_count; i++) {
        ix_match *m = &view->matches[pairing->probes[i]];
        uint32_t receive =
            m->peer < 0 ? IX_NO_END : probed(pairing, view, pairing->probes[i], m->peer);
        m->state = IX_NOT_LOGGED;
        if (receive != IX_NO_END && view->matches[receive].state == IX_MATCHED)
            *m = view->matches[receive];
    }
}
