/* Transfers that a request begins and ends. */
#include "core/requests.h"

void ix_shared_handle(uint64_t handle)
{
    uint64_t key = ix_request_key(handle), *place = ix_shared_place(key);
    if (*place || ix_table.shared_count == IX_SHARED_MAX)
        return;
    *place = key;
    ix_table.shared_bits |= ix_shared_bit(key);
    ix_table.shared_count++;
}

IX_APART void ix_begin_away(ix_thread *t, uint64_t key, const ix_descriptor *d)
{
    ix_slot *s = ix_slot_reserve(key);
    ix_open none, *open = s ? &s->open : &none;
    ix_open_in_call(t, d, open);
    if (s && IX_UNLIKELY(d->flags & IX_NEEDS_PROGRESS))
        ix_list_needing(&open->descriptor, key >> 2);
    if (s)
        ix_slot_publish(s, key);
    else
        ix_close_unknown(t, open);
}

IX_HOT void ix_begin_packed(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed)
{
    if (!t || ix_depth(t) != 1)
        return;
    uint64_t key = ix_request_key(handle);
    if (ix_is_shared(key)) {
        ix_blocking_packed(t, bytes, packed);
        return;
    }
    const ix_descriptor *d = ix_descriptor_of(t, bytes, packed);
    if (d)
        ix_begin_described(ix_share.concurrent, t, key, d);
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
    ix_mark(s, IX_PERSISTENT, 0);
    s->start_bytes = transfer->bytes;
    s->start = ix_pack_for(transfer, t->operation);
    ix_slot_publish(s, key);
}

static void lose(ix_thread *t, ix_slot *s, int cancelled)
{
    if (ix_is_marked(s, IX_ACTIVE) || !ix_is_marked(s, IX_PERSISTENT | IX_GROUP)) {
        if (cancelled)
            s->open.descriptor.flags |= IX_UNSIZED;
        ix_close_unknown(t, &s->open);
        ix_mark(s, 0, IX_ACTIVE);
    }
    ix_lose_members(t, s);
}

void ix_start_request(ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_outermost(t) ? ix_slot_find(ix_request_key(handle)) : NULL;
    if (!s || !ix_is_marked(s, IX_PERSISTENT) || ix_is_marked(s, IX_ENDING))
        return;
    /* A request that can start again has ended: unseen, or with an error. */
    if (ix_is_marked(s, IX_ACTIVE) || atomic_load_explicit(&s->members, memory_order_relaxed))
        lose(t, s, 0);
    const ix_descriptor *d = ix_descriptor_of(t, s->start_bytes, s->start);
    if (!d)
        return;
    ix_open_in_call(t, d, &s->open);
    if (IX_UNLIKELY(d->flags & IX_NEEDS_PROGRESS))
        ix_list_needing(&s->open.descriptor, handle);
    ix_mark(s, IX_ACTIVE, 0);
}

static IX_APART void finish_slot(ix_thread *t, ix_slot *s, int64_t bytes, int path)
{
    ix_descriptor *d = &s->open.descriptor;
    if (ix_is_marked(s, IX_PERSISTENT)) {
        ix_end_members(t, s, IX_ALL, IX_SLACK_NONE);
        if (!ix_is_marked(s, IX_ACTIVE))
            return;
        ix_mark(s, IX_ENDING, IX_ACTIVE);
    }
    if (ix_is_marked(s, IX_DUPLICATE)) {
        /* more than it has room for: the size is that of another one with this handle */
        if (bytes > d->bytes)
            bytes = IX_AS_POSTED;
        d->flags &= (uint8_t)~IX_RESOLVED;
    }
    if (s->open.thread != t)
        d->flags &= (uint8_t)~IX_RESOLVED;
    if (d->flags & IX_UP_TO) {
        if (ix_came_as_posted(d, bytes, path))
            d->flags &= (uint8_t)~IX_UP_TO;
        else
            ix_received(&s->open, bytes, path);
    }
    ix_end_with_call(t, s);
}

IX_APART void ix_finish_away(ix_thread *t, uint64_t key, int64_t bytes, int path)
{
    ix_slot *s = ix_slot_take(t, key);
    if (s)
        finish_slot(t, s, bytes, path);
}

IX_HOT void ix_finish(ix_thread *t, uint64_t handle, int64_t bytes, int path)
{
    if (!ix_in_call(t))
        return;
    ix_finish_keyed(ix_share.concurrent, t, ix_request_key(handle), bytes, path);
}

void ix_request_free(ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_in_call(t) ? ix_slot_take(t, ix_request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 0);
    ix_slot_release(s);
}

void ix_cancel(ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_in_call(t) ? ix_slot_take(t, ix_request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 1);
    if (!ix_is_marked(s, IX_PERSISTENT))
        ix_slot_release(s);
}

/* What is open when measuring stops. */
void ix_requests_stop(ix_thread *t)
{
    for (uint32_t i = 0; i <= ix_table.mask; i++) {
        ix_slot *s = ix_table.slots + i;
        uint64_t key = ix_key_at(i);
        /* a member of a group and a posted transfer stay IX_BUSY: no key finds them */
        if (key != IX_EMPTY &&
            (ix_is_marked(s, IX_ACTIVE) || !ix_is_marked(s, IX_PERSISTENT | IX_GROUP)))
            ix_close_unknown(t, &s->open);
    }
}
