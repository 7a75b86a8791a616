/* Requests that are known before what they move begins: persistent and partitioned ones, and
 * messages that a matched probe found. */
#include "core/log_records.h"
#include "core/log_requests.h"

/* Partitioned requests of one peer and tag are paired in the order of their inits, and their starts
 * one by one: both numbers in one, 0 where it has no room for them. */
static uint32_t partitioned_sequence(const ix_log_request *e)
{
    if (e->sequence == 0 || e->sequence > IX_LOG_PARTS_INITS || e->starts > IX_LOG_PARTS_STARTS)
        return 0;
    return (e->sequence - 1) * (IX_LOG_PARTS_STARTS + 1) + e->starts;
}

static int is_partitioned(uint64_t envelope)
{
    uint32_t kind = ix_log_kind_of(envelope);
    return kind == IX_LOG_PARTS_SEND || kind == IX_LOG_PARTS_RECV;
}

void ix_log_planned(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where, uint64_t envelope,
                    uint32_t sequence, uint32_t parts)
{
    uint64_t key = ix_request_key(handle);
    if (!ix_outermost(t))
        return;
    if (is_partitioned(envelope))
        sequence = ix_log_count_message(where, &envelope);
    ix_log_request *e = ix_log_request_reserve(key);
    if (!e)
        return;
    ix_log_request_remember(t, e, NULL);
    e->starts = 0;
    e->where = where;
    e->envelope = ix_log_flagged(envelope, IX_LOG_PERSISTENT);
    e->bytes = bytes;
    e->sequence = sequence;
    e->parts = parts;
    e->state = IX_LOG_STAYS;
    ix_log_request_publish(e, key);
}

void ix_log_started(ix_thread *t, uint64_t handle)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    if (!e || !(e->state & IX_LOG_STAYS))
        return;
    uint64_t envelope = e->envelope;
    uint32_t sequence = e->sequence;
    e->starts++;
    if (is_partitioned(envelope)) {
        sequence = partitioned_sequence(e);
        envelope = ix_log_flagged(envelope, sequence ? 0 : IX_LOG_UNCOUNTED);
    } else if (ix_log_is_message(ix_log_kind_of(envelope)))
        sequence = ix_log_is_wildcard(envelope) ? 0 : ix_log_count_message(e->where, &envelope);
    else
        envelope = (envelope & ~(uint64_t)UINT32_MAX) | e->starts;
    ix_log_record *r = ix_log_reserve(t);
    int nothing =
        ix_log_peer_of(e->where) == IX_LOG_PROC_NULL && ix_log_is_message(ix_log_kind_of(envelope));
    if (r)
        ix_log_fill(t, r, e->bytes, e->where, envelope, sequence,
                    nothing ? ix_log_id_of_last(t) : IX_LOG_OPEN);
    ix_log_request_remember(t, e, r);
    e->state |= IX_LOG_ACTIVE;
}

static void add_part(ix_thread *t, uint64_t handle, int partition, uint32_t kind)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    if (!e || !(e->state & IX_LOG_STAYS) || !e->parts)
        return;
    uint32_t number =
        partition < IX_LOG_PARTITION_LATER - 1 ? (uint32_t)partition + 1 : IX_LOG_PARTITION_LATER;
    uint64_t envelope =
        ix_log_with_kind(e->envelope, kind) | ix_log_envelope(0, 0, number << IX_LOG_PARTITION, 0);
    ix_log_add_done(t, e->bytes / e->parts, e->where, envelope, partitioned_sequence(e));
}

void ix_log_part_ready(ix_thread *t, uint64_t handle, int partition)
{
    add_part(t, handle, partition, IX_LOG_PART_READY);
}

void ix_log_part_arrived(ix_thread *t, uint64_t handle, int partition)
{
    if (t->polls.last + 1 != t->part->calls) /* nobody waited for it */
        return;
    add_part(t, handle, partition, IX_LOG_PART_ARRIVED);
    ix_log_end_polls(t);
}

/* The key of a matched probe's message is the complement of its handle: no request has that. */

void ix_log_found(ix_thread *t, uint64_t key, int64_t bytes, uint64_t where, uint64_t envelope)
{
    if (!ix_outermost(t))
        return;
    uint64_t receive = ix_log_with_kind(envelope, IX_LOG_RECV);
    uint32_t sequence = ix_log_count_message(where, &receive);
    ix_log_add_done(t, bytes, where, envelope | (receive & ix_log_flagged(0, IX_LOG_UNCOUNTED)),
                    sequence);
    ix_log_end_polls(t);
    ix_log_request *e = ix_log_request_reserve(ix_request_key(key));
    if (!e)
        return;
    ix_log_request_remember(t, e, NULL);
    e->where = where;
    e->envelope = receive;
    e->sequence = sequence;
    e->state = 0;
    ix_log_request_publish(e, ix_request_key(key));
}

void ix_log_found_received(ix_thread *t, uint64_t key, uint64_t handle, int64_t bytes)
{
    ix_log_request *e = ix_outermost(t) ? ix_log_request_take(ix_request_key(key), t->slot) : NULL;
    if (!e)
        return;
    uint64_t where = e->where, envelope = e->envelope;
    uint32_t sequence = e->sequence;
    ix_log_request_release(e);
    ix_log_record *r = ix_log_reserve(t);
    if (!r)
        return;
    ix_log_fill(t, r, bytes, where, envelope, sequence,
                handle ? IX_LOG_OPEN : ix_log_id_of_last(t));
    if (!handle)
        return;
    e = ix_log_request_reserve(ix_request_key(handle));
    if (!e) {
        r->end_call = IX_LOG_END_UNSEEN;
        return;
    }
    ix_log_request_remember(t, e, r);
    e->where = where;
    e->envelope = envelope;
    e->state = IX_LOG_ACTIVE;
    ix_log_request_publish(e, ix_request_key(handle));
}
