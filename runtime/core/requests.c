/* Transfers that a request begins and ends. */
#include "slots.h"
#include "usual.h"

static uint64_t shared_bit(uint64_t handle)
{
    return UINT64_C(1) << (ix_hash(handle) & 63);
}

static inline int is_shared(uint64_t handle)
{
    if (IX_LIKELY(!(ix_table.shared_bits & shared_bit(handle))))
        return 0;
    for (uint32_t i = 0; i < ix_table.shared_count; i++)
        if (ix_table.shared[i] == handle)
            return 1;
    return 0;
}

void ix_shared_handle(uint64_t handle)
{
    if (ix_table.shared_count == IX_SHARED_MAX || is_shared(handle))
        return;
    ix_table.shared[ix_table.shared_count++] = handle;
    ix_table.shared_bits |= shared_bit(handle);
}

static __attribute__((noinline)) void begin_away(ix_thread *t, uint64_t key,
                                                 const ix_transfer *transfer)
{
    ix_slot *s = ix_slot_reserve(key);
    ix_open none, *open = s ? &s->open : &none;
    ix_open_transfer(t, transfer, t->operation, open);
    ix_note_begin(t, open);
    if (s)
        ix_slot_publish(s, key);
    else
        ix_close_unknown(t, open);
}

void ix_begin(ix_thread *t, uint64_t handle, const ix_transfer *transfer)
{
    if (!ix_begins(t, transfer))
        return;
    if (is_shared(handle)) {
        ix_blocking(t, transfer);
        return;
    }
    uint64_t key = ix_request_key(handle);
    ix_slot *s = ix_slot_at_home(key);
    if (IX_UNLIKELY(!s)) {
        begin_away(t, key, transfer);
        return;
    }
    ix_open_transfer(t, transfer, t->operation, &s->open);
    ix_note_begin(t, &s->open);
}

void ix_persistent(ix_thread *t, uint64_t handle, const ix_transfer *transfer)
{
    if (!ix_outermost(t))
        return;
    uint64_t key = ix_request_key(handle);
    ix_slot *s = ix_slot_reserve(key);
    if (!s) { /* its starts will not be seen */
        ix_count(&ix_engine.part->rank.overflow);
        return;
    }
    atomic_store_explicit(&s->kind, IX_PERSISTENT, memory_order_relaxed);
    s->template = *transfer;
    s->operation = t->operation;
    ix_slot_publish(s, key);
}

void ix_start_request(ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_outermost(t) ? ix_slot_find(ix_request_key(handle)) : NULL;
    if (!s || !ix_is_persistent(s) || s->state != IX_INACTIVE || !ix_begins(t, &s->template))
        return;
    ix_open_transfer(t, &s->template, s->operation, &s->open);
    ix_note_begin(t, &s->open);
    s->state = IX_ACTIVE;
}

/* ---- End */

void ix_finish(ix_thread *t, uint64_t handle, int64_t bytes, int path)
{
    ix_slot *s = t && t->depth && !t->off ? ix_slot_take(ix_request_key(handle)) : NULL;
    if (!s)
        return;
    if (ix_is_persistent(s)) {
        ix_end_members(t, s, IX_ALL, IX_SLACK_NONE);
        if (s->state != IX_ACTIVE)
            return;
        s->state = IX_ENDING;
    }
    if (s->open.what.flags & IX_UP_TO)
        ix_received(t, &s->open, bytes, path);
    ix_end_with_call(t, s);
}

void ix_requests_close_finished(ix_thread *t, const ix_end *end)
{
    uint32_t i = t->finished;
    while (i) {
        ix_slot *s = ix_table.slots + i - 1;
        i = s->next;
        if (atomic_load_explicit(&s->duplicate, memory_order_relaxed))
            s->open.what.slack = IX_SLACK_UNKNOWN;
        if (s->open.what.flags & IX_UP_TO)
            ix_close_unknown(t, &s->open);
        else if (IX_UNLIKELY(!ix_close_usual(t, &s->open, end)))
            ix_close(t, &s->open, end);
        if (ix_is_persistent(s))
            s->state = IX_INACTIVE;
        else
            ix_slot_release(s);
    }
    t->finished = 0;
}

static void lose(ix_thread *t, ix_slot *s, int cancelled)
{
    if (s->kind == IX_ONE || s->state == IX_ACTIVE) {
        s->open.what.unsized |= (uint8_t)cancelled;
        ix_close_unknown(t, &s->open);
        s->state = IX_INACTIVE;
    }
    ix_lose_members(t, s);
}

void ix_request_free(ix_thread *t, uint64_t handle)
{
    ix_slot *s = t && t->depth && !t->off ? ix_slot_take(ix_request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 0);
    ix_slot_release(s);
}

void ix_cancel(ix_thread *t, uint64_t handle)
{
    ix_slot *s = t && t->depth && !t->off ? ix_slot_take(ix_request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 1);
    if (s->kind == IX_ONE)
        ix_slot_release(s);
}

/* What is open when measuring stops. */
void ix_requests_stop(ix_thread *t)
{
    for (uint32_t i = 0; i <= ix_table.mask; i++) {
        ix_slot *s = ix_table.slots + i;
        uint64_t key = ix_key_at(i);
        /* a member of a group and a posted transfer stay IX_BUSY: nobody finds them by a key */
        if (key != IX_EMPTY && (s->kind == IX_ONE || s->state == IX_ACTIVE))
            ix_close_unknown(t, &s->open);
    }
}
