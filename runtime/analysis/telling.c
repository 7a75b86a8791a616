#include "analysis/telling.h"

#include "analysis/evidence.h"

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
        const ix_stream *stream = ix_stream_numbered(pairing, pairing->order[telling->stream]);
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
    int receive = ix_is_receiving(op->kind, op->tag);
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
        uint32_t side = ix_stream_side(told[i].kind, told[i].tag) ^ 1u;
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
    ix_stream key = ix_stream_key(op, peer);
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
