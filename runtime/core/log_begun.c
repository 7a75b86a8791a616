/* What begins: with a call, or with a request that ends it. */
#include "core/log_messages.h"

/* Functions of the usual case call nothing, so that they need no stack: what does more is the last
 * thing that they call. */

void ix_log_add_message(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope)
{
    if (!ix_outermost(t))
        return;
    uint32_t sequence = ix_log_count_message(where, &envelope);
    ix_log_add_done(t, bytes, where, envelope, sequence);
}

IX_HOT void ix_log_message_sent(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope)
{
    if (t)
        ix_log_message_in(t, bytes, where, envelope, IX_LOG_OUT);
}

IX_HOT void ix_log_message_received(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope)
{
    if (t)
        ix_log_message_in(t, bytes, where, envelope, IX_LOG_IN);
}

IX_HOT void ix_log_done(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope,
                        uint32_t sequence)
{
    if (!ix_outermost(t))
        return;
    ix_log_record *r = ix_log_reserve(t);
    int later = ix_log_kind_of(envelope) == IX_LOG_PUT || ix_log_kind_of(envelope) == IX_LOG_GET;
    if (r)
        ix_log_fill(t, r, bytes, where, envelope, sequence,
                    later ? IX_LOG_OPEN : ix_log_id_of_last(t));
}

uint32_t ix_log_epoch_begun(ix_thread *t, uint64_t where, uint64_t envelope)
{
    int exposes = ix_log_kind_of(envelope) == IX_LOG_EXPOSURE;
    uint32_t sequence = ix_log_count(where, 0, exposes ? IX_LOG_POSTS : IX_LOG_STARTS);
    if (!sequence)
        envelope = ix_log_flagged(envelope, IX_LOG_UNCOUNTED);
    ix_log_done(t, 0, where, envelope, sequence);
    return sequence;
}

/* The end of what begins in this call is known: it has none, or its request is one of those that
 * the library shares between all that complete at once. */
static inline int ends_here(uint64_t key, uint64_t where)
{
    return ix_log_peer_of(where) == IX_LOG_PROC_NULL || ix_is_shared(key);
}

static inline int state_of(uint64_t envelope, const ix_log_record *r)
{
    if (envelope & IX_LOG_PAIR)
        return IX_LOG_ACTIVE | IX_LOG_ONE_OF_TWO;
    if (!r || ix_log_is_wildcard(envelope))
        return IX_LOG_ACTIVE;
    return IX_LOG_ACTIVE | IX_LOG_PLAIN |
           (ix_log_kind_of(envelope) == IX_LOG_RECV ? IX_LOG_RECEIVES : 0);
}

void ix_log_begun(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where, uint64_t envelope,
                  uint32_t sequence)
{
    if (!ix_outermost(t))
        return;
    uint64_t key = ix_request_key(handle);
    if (ix_log_is_message(ix_log_kind_of(envelope)) && !ix_log_is_wildcard(envelope))
        sequence = ix_log_count_message(where, &envelope);
    if (ends_here(key, where)) {
        ix_log_add_done(t, bytes, where, envelope, sequence);
        return;
    }
    ix_log_record *r = ix_log_reserve(t);
    if (r)
        ix_log_fill(t, r, bytes, where, envelope, sequence, IX_LOG_OPEN);
    else if (!ix_log_is_wildcard(envelope) && !ix_share.concurrent)
        return; /* its end is of no interest, and is taken for no other's */
    ix_log_request *e = ix_log_request_reserve(key);
    if (IX_UNLIKELY(!e)) {
        if (r)
            r->end_call = IX_LOG_END_UNSEEN;
        return;
    }
    ix_log_request_remember(t, e, r);
    e->where = where;
    e->envelope = envelope;
    e->state = (uint8_t)state_of(envelope, r);
    ix_log_request_publish(e, key);
}
