/* Messages of requests, and their ends, for the engine and the call log at once: what both need of
 * a call and of a handle is found once. */
#include "core/log_messages.h"
#include "core/requests.h"

static IX_APART void begin_apart(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                                 uint64_t where, uint64_t envelope)
{
    ix_log_begun(t, handle, bytes, where, envelope, 0);
    ix_begin_packed(t, handle, bytes, packed);
}

static inline IX_ALWAYS int begin_both(ix_thread *t, uint64_t handle, const ix_descriptor *d,
                                       int64_t bytes, uint64_t where, uint64_t envelope,
                                       enum ix_log_direction direction)
{
    uint64_t key = ix_request_key(handle);
    if (IX_UNLIKELY(!ix_log_begin_plain(t, key, bytes, where, envelope, direction)))
        return 0;
    if (d)
        ix_begin_described(0, t, key, d);
    return 1;
}

/* Where no plan at the call site's home may describe it, or nothing moves. */
static IX_APART void describe_and_begin(ix_thread *t, uint64_t handle, int64_t bytes,
                                        ix_packed packed, uint64_t where, uint64_t envelope)
{
    const ix_descriptor *d = ix_outermost(t) ? ix_descriptor_of(t, bytes, packed) : NULL;
    int receives = ix_log_kind_of(envelope) == IX_LOG_RECV;
    if (!(receives ? begin_both(t, handle, d, bytes, where, envelope, IX_LOG_IN)
                   : begin_both(t, handle, d, bytes, where, envelope, IX_LOG_OUT)))
        begin_apart(t, handle, bytes, packed, where, envelope);
}

/* Of one whose handle may be one of those that the library shares between all that complete at
 * once. */
static inline IX_ALWAYS void begin_shared(ix_thread *t, uint64_t handle, int64_t bytes,
                                          ix_packed packed, uint64_t where, uint64_t envelope,
                                          enum ix_log_direction direction)
{
    if (IX_UNLIKELY(!*ix_shared_place(ix_request_key(handle)))) {
        describe_and_begin(t, handle, bytes, packed, where, envelope);
        return;
    }
    ix_log_only_message(t, bytes, where, envelope, direction);
    ix_blocking_packed(t, bytes, packed);
}

static IX_HOT IX_APART void begin_shared_send(ix_thread *t, uint64_t handle, int64_t bytes,
                                              ix_packed packed, uint64_t where, uint64_t envelope)
{
    begin_shared(t, handle, bytes, packed, where, envelope, IX_LOG_OUT);
}

static IX_APART void begin_shared_receive(ix_thread *t, uint64_t handle, int64_t bytes,
                                          ix_packed packed, uint64_t where, uint64_t envelope)
{
    begin_shared(t, handle, bytes, packed, where, envelope, IX_LOG_IN);
}

static inline IX_ALWAYS void begin(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                                   uint64_t where, uint64_t envelope,
                                   enum ix_log_direction direction)
{
    envelope |= ix_log_envelope(0, 0, ix_packed_path(packed), 0);
    if (ix_may_be_shared(ix_request_key(handle))) {
        if (direction == IX_LOG_OUT)
            begin_shared_send(t, handle, bytes, packed, where, envelope);
        else
            begin_shared_receive(t, handle, bytes, packed, where, envelope);
        return;
    }
    const ix_plan *p = t->home;
    if (IX_UNLIKELY(!ix_is_plan(t, p, bytes, packed)))
        describe_and_begin(t, handle, bytes, packed, where, envelope);
    else if (IX_UNLIKELY(!begin_both(t, handle, &p->transfer, bytes, where, envelope, direction)))
        begin_apart(t, handle, bytes, packed, where, envelope);
}

IX_HOT void ix_begin_logged_send(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                                 uint64_t where, uint64_t envelope)
{
    begin(t, handle, bytes, packed, where, envelope, IX_LOG_OUT);
}

IX_HOT void ix_begin_logged_receive(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                                    uint64_t where, uint64_t envelope)
{
    begin(t, handle, bytes, packed, where, envelope, IX_LOG_IN);
}

static IX_APART void finish_apart(ix_thread *t, uint64_t handle, uint64_t came, int64_t bytes,
                                  int path)
{
    uint32_t flags = (uint32_t)(path + 1) << 8;
    ix_log_completed(t, handle, (int32_t)(uint32_t)came, (int32_t)(came >> 32), bytes, flags);
    ix_finish(t, handle, bytes, path);
}

IX_HOT void ix_finish_logged(ix_thread *t, uint64_t handle, uint64_t came, int64_t bytes, int path)
{
    uint64_t key = ix_request_key(handle);
    if (IX_UNLIKELY(ix_share.concurrent || !ix_log_note_completion(t) ||
                    !ix_log_end_plain(t, key, bytes)))
        finish_apart(t, handle, came, bytes, path);
    else
        ix_finish_keyed(0, t, key, bytes, path);
}
