#include "analysis/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/evidence.h"
#include "analysis/open_receives.h"
#include "analysis/undivided.h"

/* qsort has no context. */
static _Thread_local const ix_op *ops;
static _Thread_local const ix_stream *streams;

static int by_stream(const void *a, const void *b)
{
    const ix_stream *x = &streams[*(const uint32_t *)a], *y = &streams[*(const uint32_t *)b];
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->side != y->side)
        return x->side > y->side ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int by_time(const void *a, const void *b)
{
    const ix_op *x = &ops[*(const uint32_t *)a], *y = &ops[*(const uint32_t *)b];
    if (x->enter_ns != y->enter_ns)
        return x->enter_ns < y->enter_ns ? -1 : 1;
    return by_number(a, b);
}

static int by_sequence(const void *a, const void *b)
{
    return by_number(&ops[*(const uint32_t *)a].sequence, &ops[*(const uint32_t *)b].sequence);
}

static int overlap(const ix_op *a, const ix_op *b)
{
    return a->thread != b->thread && b->enter_ns < a->exit_ns;
}

/* Of one stream in the order of posting: threads that posted at the same time leave open which came
 * first, so that no message of the stream is sure from there on. */
static void mark_ambiguous(ix_view *view, const uint32_t *messages, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (overlap(&ops[messages[i - 1]], &ops[messages[i]])) {
            view->matches[messages[i - 1]].state = IX_AMBIGUOUS;
            view->matches[messages[i]].state = IX_AMBIGUOUS;
        }
}

/* Posting order decides which receive a message gets; the log numbered wildcards later. */
static int number_receives(ix_view *view, const uint32_t *messages, uint32_t count)
{
    int wildcard = 0;
    for (uint32_t i = 0; i < count; i++)
        wildcard |= view->ops[messages[i]].flags & IX_LOG_WILDCARD;
    if (!wildcard)
        return 0;
    uint32_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = view->ops[messages[i]].sequence;
    qsort(numbers, count, sizeof *numbers, by_number);
    for (uint32_t i = 0; i < count; i++)
        view->ops[messages[i]].sequence = numbers[i];
    free(numbers);
    return 0;
}

static enum ix_match_state why_not(const ix_op *op, int32_t peer)
{
    if (op->flags & IX_LOG_CANCELLED)
        return IX_WITHDRAWN;
    if (op->kind == IX_LOG_PUT || op->kind == IX_LOG_GET)
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
    return (ix_is_send(op) || op->kind == IX_LOG_RECV || ix_is_partitioned(op->kind) ||
            ix_is_group_epoch(op->kind)) &&
           op->peer != IX_LOG_PROC_NULL;
}

ix_stream *ix_stream_numbered(const ix_pairing *pairing, uint32_t number)
{
    return (ix_stream *)(void *)(pairing->streams.rows + number * sizeof(ix_stream));
}

uint32_t ix_stream_side(uint32_t kind, int32_t tag)
{
    return (ix_is_receiving(kind, tag) ? 1u : 0u) + (ix_is_partitioned(kind) ? 2u : 0u);
}

ix_stream ix_stream_key(const ix_op *op, int32_t peer)
{
    return (ix_stream){
        .peer = peer, .tag = op->tag, .comm = op->comm, .side = ix_stream_side(op->kind, op->tag)};
}

/* Those messages that can be paired, in the order of the log, and the number of each one's stream.
 */
static int choose(ix_pairing *pairing, ix_view *view, ix_world_rank *world_rank,
                  const void *context, uint32_t *stream_of)
{
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
        if (state != IX_MATCHED) {
            view->matches[i].state = (uint8_t)state;
            continue;
        }
        ix_stream key = ix_stream_key(op, peer), *stream = ix_rows_at(&pairing->streams, &key);
        if (!stream)
            return -1;
        stream->count++;
        stream_of[pairing->count] =
            (uint32_t)(((const char *)stream - pairing->streams.rows) / (ptrdiff_t)sizeof *stream);
        pairing->messages[pairing->count++] = i;
    }
    return 0;
}

/* Stream after stream; each keeps the order of the log, which is that of time within a thread. */
static int put_in_order(ix_pairing *pairing, const uint32_t *stream_of)
{
    uint32_t count = (uint32_t)pairing->streams.count, at = 0;
    uint32_t *chosen = pairing->messages;
    pairing->order = malloc((count + (size_t)1) * sizeof *pairing->order);
    pairing->messages = malloc((pairing->count + (size_t)1) * sizeof *pairing->messages);
    if (!pairing->order || !pairing->messages) {
        free(chosen);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++)
        pairing->order[i] = i;
    streams = ix_stream_numbered(pairing, 0);
    if (count)
        qsort(pairing->order, count, sizeof *pairing->order, by_stream);
    for (uint32_t i = 0; i < count; i++) {
        ix_stream *stream = ix_stream_numbered(pairing, pairing->order[i]);
        stream->first = stream->next = at;
        at += stream->count;
    }
    for (uint32_t i = 0; i < pairing->count; i++)
        pairing->messages[ix_stream_numbered(pairing, stream_of[i])->next++] = chosen[i];
    free(chosen);
    return 0;
}

/* By time, which says who is numbered how, and then by number. */
static int sort_stream(ix_pairing *pairing, ix_view *view, ix_stream *stream)
{
    uint32_t *messages = pairing->messages + stream->first, count = stream->count;
    int in_time = 1, in_sequence = 1;
    stream->next = stream->first;
    for (uint32_t i = 1; i < count && in_time; i++)
        in_time = ops[messages[i - 1]].enter_ns <= ops[messages[i]].enter_ns;
    if (!in_time)
        qsort(messages, count, sizeof *messages, by_time);
    for (uint32_t i = 1; i < count && in_sequence; i++)
        in_sequence = ops[messages[i - 1]].sequence < ops[messages[i]].sequence;
    mark_ambiguous(view, messages, count);
    if (stream->side == 1 && number_receives(view, messages, count))
        return -1;
    if (!in_sequence) /* threads count in another order than they enter */
        qsort(messages, count, sizeof *messages, by_sequence);
    stream->in_time = 1;
    for (uint32_t i = 1; i < count && stream->in_time; i++)
        stream->in_time = ops[messages[i - 1]].enter_ns <= ops[messages[i]].enter_ns;
    return 0;
}

int ix_pairing_start(ix_pairing *pairing, ix_view *view, ix_world_rank *world_rank,
                     const void *context)
{
    uint32_t messages = 0, probes = 0;
    *pairing = (ix_pairing){.streams = ix_rows_of(sizeof(ix_stream), 16)};
    for (uint32_t i = 0; i < view->count; i++) {
        messages += is_message(&view->ops[i]);
        probes += view->ops[i].kind == IX_LOG_PROBE;
    }
    uint32_t *stream_of = malloc((messages + (size_t)1) * sizeof *stream_of);
    pairing->messages = malloc((messages + (size_t)1) * sizeof *pairing->messages);
    pairing->probes = malloc((probes + (size_t)1) * sizeof *pairing->probes);
    ops = view->ops;
    int bad = !stream_of || !pairing->messages || !pairing->probes ||
              choose(pairing, view, world_rank, context, stream_of) ||
              put_in_order(pairing, stream_of);
    if (!bad)
        ix_mark_behind_open(view, pairing->messages, pairing->count);
    bad = bad || ix_mark_undivided(view) || ix_find_ready(view, &pairing->ready);
    free(stream_of);
    for (uint32_t i = 0; i < pairing->streams.count && !bad; i++)
        bad = sort_stream(pairing, view, ix_stream_numbered(pairing, i));
    if (bad)
        ix_pairing_end(pairing);
    return bad ? -1 : 0;
}

void ix_pairing_end(ix_pairing *pairing)
{
    free(pairing->messages);
    free(pairing->order);
    free(pairing->probes);
    free(pairing->ready);
    ix_rows_free(&pairing->streams);
    *pairing = (ix_pairing){0};
}
