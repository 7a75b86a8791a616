#include "analysis/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/evidence.h"
#include "analysis/open_receives.h"
#include "analysis/undivided.h"

/* qsort has no context. */
static _Thread_local const ix_op *ops;
static _Thread_local const ix_stream *streams;

static int is_receive(const ix_op *op)
{
    return ix_is_receiving(op->kind, op->tag);
}

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

static ix_stream *stream_numbered(const ix_pairing *pairing, uint32_t number)
{
    return (ix_stream *)(void *)(pairing->streams.rows + number * sizeof(ix_stream));
}

static uint32_t side_of(uint32_t kind, int32_t tag)
{
    return (ix_is_receiving(kind, tag) ? 1u : 0u) + (ix_is_partitioned(kind) ? 2u : 0u);
}

static ix_stream key_of(const ix_op *op, int32_t peer)
{
    return (ix_stream){
        .peer = peer, .tag = op->tag, .comm = op->comm, .side = side_of(op->kind, op->tag)};
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
        ix_stream key = key_of(op, peer), *stream = ix_rows_at(&pairing->streams, &key);
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
    streams = stream_numbered(pairing, 0);
    if (count)
        qsort(pairing->order, count, sizeof *pairing->order, by_stream);
    for (uint32_t i = 0; i < count; i++) {
        ix_stream *stream = stream_numbered(pairing, pairing->order[i]);
        stream->first = stream->next = at;
        at += stream->count;
    }
    for (uint32_t i = 0; i < pairing->count; i++)
        pairing->messages[stream_numbered(pairing, stream_of[i])->next++] = chosen[i];
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
        bad = sort_stream(pairing, view, stream_numbered(pairing, i));
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

/* Who receives it waits for the last of its partitions, and for none before the first is ready. */
static void tell_ready(const ix_pairing *pairing, const ix_view *view, uint32_t at, ix_told *told)
{
    const ix_ready *ready = &pairing->ready[at];
    if (ready->last == IX_NO_END) {
        told->sequence = 0;
        return;
    }
    told->start_enter = view->ops[ready->last].enter_ns;
    told->start_exit = view->ops[ready->last].exit_ns;
    told->end_enter = view->ops[ready->first].enter_ns;
    told->between = -1;
}

static ix_told told_of(const ix_view *view, uint32_t at)
{
    const ix_op *op = &view->ops[at];
    ix_told told = {.comm = op->comm,
                    .tag = op->tag,
                    .sequence = op->sequence,
                    .kind = op->kind,
                    .bytes = op->bytes,
                    .start_enter = op->enter_ns,
                    .start_exit = op->exit_ns,
                    .end_enter = INT64_MAX,
                    .end_exit = INT64_MAX};
    if (op->flags & IX_LOG_FAILED)
        told.bytes = -1;
    if (view->matches[at].state == IX_AMBIGUOUS)
        told.sequence = 0;
    if (op->end_call == IX_NO_END)
        return told;
    const ix_op *end = &view->ops[op->end_call];
    told.only_starts = (uint8_t)ix_only_starts_until_end(view, at);
    told.undivided = view->matches[at].undivided;
    told.end_enter = end->enter_ns;
    told.end_exit = end->exit_ns;
    if (op->end_call == at || end->enter_ns <= op->exit_ns)
        told.end_enter = op->exit_ns;
    else if (end->thread == op->thread)
        told.between = end->call_before_ns - op->call_before_ns - (op->exit_ns - op->enter_ns);
    else /* nobody knows what its own thread did */
        told.between = -1;
    return told;
}

uint32_t ix_pairing_tell(const ix_pairing *pairing, const ix_view *view, ix_telling *telling,
                         uint32_t room, ix_told *told, int32_t *peer)
{
    uint32_t count = 0;
    while (count < room && telling->stream < pairing->streams.count) {
        const ix_stream *stream = stream_numbered(pairing, pairing->order[telling->stream]);
        if (count && stream->peer != *peer)
            break;
        *peer = stream->peer;
        for (; count < room && telling->told < stream->count; telling->told++) {
            uint32_t at = pairing->messages[stream->first + telling->told];
            told[count] = told_of(view, at);
            if (view->ops[at].kind == IX_LOG_PARTS_SEND)
                tell_ready(pairing, view, at, &told[count]);
            count++;
        }
        if (telling->told == stream->count)
            *telling = (ix_telling){telling->stream + 1, 0};
    }
    return count;
}

/* Which of a stream's messages has a number; IX_NO_END: none. */
static uint32_t numbered(const ix_pairing *pairing, const ix_view *view, ix_stream *stream,
                         uint32_t sequence)
{
    uint32_t low = stream->first, end = stream->first + stream->count, high = end;
    if (stream->next < end && view->ops[pairing->messages[stream->next]].sequence == sequence)
        low = high = stream->next;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->ops[pairing->messages[middle]].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || view->ops[pairing->messages[low]].sequence != sequence)
        return IX_NO_END;
    stream->next = low + 1;
    return pairing->messages[low];
}

static void match(const ix_pairing *pairing, ix_view *view, uint32_t i, const ix_told *told,
                  int64_t error_ns)
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
    m->other.only_starts = told->only_starts;
    m->other.undivided = told->undivided;
    m->other.ready_enter = INT64_MAX;
    if (op->kind == IX_LOG_PARTS_SEND && pairing->ready[i].last != IX_NO_END)
        m->other.ready_enter = view->ops[pairing->ready[i].last].enter_ns;
    if (receive && told->end_exit == INT64_MAX) { /* a send that was given up did begin */
        m->other.end_exit = m->other.start_exit;
        if (op->kind != IX_LOG_PARTS_RECV)
            m->other.end_enter = m->other.start_exit;
        m->other.between = -1;
        m->other.only_starts = 0;
    }
    if (known && got > sent)
        m->state = IX_SIZES_DIFFER;
    else if (op->end_call == IX_NO_END || (!receive && told->end_exit == INT64_MAX))
        m->state = IX_END_UNKNOWN;
    else if (op->tag == IX_EPOCH_BEGINS && ix_is_group_epoch(op->kind))
        m->state = IX_MATCHED; /* a start may be over before its post */
    else if (receive ? m->other.start_enter - error_ns > view->ops[op->end_call].exit_ns
                     : op->enter_ns - error_ns > m->other.end_exit)
        m->state = IX_CLOCKS; /* it came before it left */
    else
        m->state = IX_MATCHED;
}

void ix_pairing_hear(ix_pairing *pairing, ix_view *view, int32_t peer, const ix_told *told,
                     size_t count, int64_t error_ns)
{
    ix_stream *stream = NULL;
    for (size_t i = 0; i < count; i++) {
        /* what it sent I received */
        uint32_t side = side_of(told[i].kind, told[i].tag) ^ 1u;
        if (told[i].sequence == 0)
            continue;
        if (!stream || stream->comm != told[i].comm || stream->tag != told[i].tag ||
            stream->side != side) {
            ix_stream key = {.peer = peer, .tag = told[i].tag, .comm = told[i].comm, .side = side};
            stream = ix_rows_find(&pairing->streams, &key);
        }
        uint32_t own =
            stream ? numbered(pairing, view, stream, told[i].sequence) : (uint32_t)IX_NO_END;
        if (own != IX_NO_END)
            match(pairing, view, own, &told[i], error_ns);
    }
}

/* The receive of the probed message is the first of its stream that was not posted before. */
static uint32_t probed(const ix_pairing *pairing, const ix_view *view, uint32_t probe, int32_t peer)
{
    const ix_op *op = &view->ops[probe];
    ix_stream key = key_of(op, peer);
    key.side = 1;
    const ix_stream *stream = ix_rows_find(&pairing->streams, &key);
    uint32_t low = 0, high = stream ? stream->count : 0, count = high;
    while (low < high) {
        uint32_t middle = stream->in_time ? low + (high - low) / 2 : low;
        if (view->ops[pairing->messages[stream->first + middle]].enter_ns < op->exit_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? pairing->messages[stream->first + low] : IX_NO_END;
}

void ix_pairing_probes(const ix_pairing *pairing, ix_view *view)
{
    ix_match_partitions(view);
    for (uint32_t i = 0; i < pairing->probe_count; i++) {
        ix_match *m = &view->matches[pairing->probes[i]];
        uint32_t receive =
            m->peer < 0 ? IX_NO_END : probed(pairing, view, pairing->probes[i], m->peer);
        m->state = IX_NOT_LOGGED;
        if (receive != IX_NO_END && view->matches[receive].state == IX_MATCHED)
            *m = view->matches[receive];
    }
}
