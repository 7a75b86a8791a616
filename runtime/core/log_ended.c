/* What ends: requests that a call saw complete, or that nobody will see complete. */
#include "core/log_records.h"
#include "core/log_requests.h"

/* The record of an entry, NULL where it was not logged or its chunk was taken for others. */
static inline ix_log_record *record_of(const ix_log_request *e)
{
    ix_log_record *r = e->record;
    return r && ix_log_chunk_of(r)->order == e->id / IX_LOG_CHUNK_RECORDS ? r : NULL;
}

static void forget(ix_log_request *e)
{
    if (e->state & IX_LOG_STAYS) {
        e->state &= (uint8_t)~IX_LOG_ACTIVE;
        e->record = NULL;
    } else {
        ix_log_request_release(e);
    }
}

/* What the status of a receive says. */
static inline void note_received(ix_log_record *r, uint64_t where, uint64_t envelope,
                                 int32_t source, int32_t tag, int64_t bytes, uint32_t flags)
{
    uint32_t sequence = 0;
    if (ix_log_is_wildcard(envelope) && !(flags & IX_LOG_CANCELLED) && source >= 0) {
        sequence = ix_log_count(ix_log_where((uint32_t)where, source), tag, IX_LOG_IN);
        if (r)
            r->sequence = sequence;
    }
    if (!r || flags & IX_LOG_CANCELLED || bytes < 0)
        return;
    if (!(flags & IX_LOG_FAILED))
        r->bytes = bytes;
    if (ix_log_is_wildcard(envelope)) {
        r->peer = source;
        r->tag = tag;
        r->flags |= sequence ? 0 : IX_LOG_UNCOUNTED;
        if (flags >> 8)
            r->path = (uint8_t)((flags >> 8) - 1);
    }
}

/* The call in progress moves nothing of its own. */
static IX_APART void add_completion(ix_thread *t)
{
    const uint64_t envelope = ix_log_envelope(0, IX_LOG_COMPLETION, IX_PATH_NONE, 0);
    ix_log_add_done(t, 0, ix_log_where(0, IX_LOG_NOBODY), envelope, 0);
    ix_log_end_polls(t);
}

static inline IX_ALWAYS void complete(ix_thread *t, ix_log_request *e, int32_t source, int32_t tag,
                                      int64_t bytes, uint32_t flags)
{
    uint64_t where = e->where, envelope = e->envelope;
    ix_log_record *r = record_of(e);
    if (e->state & IX_LOG_PLAIN)
        envelope = ix_log_envelope(0, e->state & IX_LOG_RECEIVES ? IX_LOG_RECV : IX_LOG_NONE, 0, 0);
    forget(e);
    if (r) {
        r->end_call = t->log.first ? t->log.call_id : IX_LOG_END_UNSEEN;
        r->flags |= (uint8_t)flags;
    }
    if (ix_log_kind_of(envelope) == IX_LOG_RECV)
        note_received(r, where, envelope, source, tag, bytes, flags);
}

/* One of two that the request began, or one that is not active. */
static IX_APART void complete_one_of_two(ix_thread *t, ix_log_request *e, uint64_t key,
                                         int32_t source, int32_t tag, int64_t bytes, uint32_t flags)
{
    if (!(e->state & IX_LOG_ACTIVE)) {
        if (!(e->state & IX_LOG_STAYS))
            ix_log_request_release(e);
        return;
    }
    complete(t, e, source, tag, bytes, flags);
    e = ix_log_request_take(key, t->slot);
    if (e && e->state & IX_LOG_ACTIVE)
        complete(t, e, source, tag, bytes, flags);
    else if (e && !(e->state & IX_LOG_STAYS))
        ix_log_request_release(e);
}

static IX_APART void complete_any(ix_thread *t, uint64_t key, int32_t source, int32_t tag,
                                  int64_t bytes, uint32_t flags)
{
    if (!t->log.first)
        add_completion(t);
    ix_log_request *e = ix_log_request_take(key, t->slot);
    if (!e)
        return;
    if (IX_UNLIKELY((e->state & (IX_LOG_ACTIVE | IX_LOG_ONE_OF_TWO)) != IX_LOG_ACTIVE))
        complete_one_of_two(t, e, key, source, tag, bytes, flags);
    else
        complete(t, e, source, tag, bytes, flags);
}

void ix_log_completed(ix_thread *t, uint64_t handle, int32_t source, int32_t tag, int64_t bytes,
                      uint32_t flags)
{
    if (ix_outermost(t))
        complete_any(t, ix_request_key(handle), source, tag, bytes, flags);
}

void ix_log_given_up(ix_thread *t, uint64_t handle)
{
    ix_log_request *e =
        ix_outermost(t) ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    for (int again = 1; e; again = 0) {
        int one_of_two = e->state & IX_LOG_ONE_OF_TWO && again;
        ix_log_record *r = e->state & IX_LOG_ACTIVE ? record_of(e) : NULL;
        if (r)
            r->end_call = IX_LOG_END_UNSEEN;
        ix_log_request_release(e);
        e = one_of_two ? ix_log_request_take(ix_request_key(handle), t->slot) : NULL;
    }
}
