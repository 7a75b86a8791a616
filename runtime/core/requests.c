/* Transfers that a request begins and ends. */
#include "slots.h"

void ix_shared_handle(uint64_t handle)
{
    uint64_t key = ix_request_key(handle), *place = ix_shared_place(key);
    if (*place || ix_table.shared_count == IX_SHARED_MAX)
        return;
    *place = key;
    ix_table.shared_bits |= ix_shared_bit(key);
    ix_table.shared_count++;
}

static IX_APART void begin_away(ix_thread *t, uint64_t key, const ix_transfer *transfer)
{
    ix_slot *s = ix_slot_reserve(key);
    ix_open none, *open = s ? &s->open : &none;
    ix_open_transfer(t, transfer, transfer->operation, open);
    if (s)
        ix_slot_publish(s, key);
    else
        ix_close_unknown(t, open);
}

/* Not what the entry of its site holds, or no place at its home. */
static IX_APART void begin_anew(ix_thread *t, uint64_t key, int64_t bytes, uint64_t word,
                                uint32_t operation)
{
    ix_transfer transfer = ix_transfer_of(bytes, word, operation ? operation : t->operation);
    if (ix_begins(t, bytes, transfer.path))
        begin_away(t, key, &transfer);
}

IX_HOT void ix_begin_word(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t word,
                          uint32_t operation)
{
    if (!t || t->depth != 1)
        return;
    uint64_t key = ix_request_key(handle);
    if (ix_is_shared(key)) {
        ix_blocking_word(t, bytes, word, operation);
        return;
    }
    const ix_begin_entry *e = ix_begin_entry_of(t, bytes, word);
    ix_slot *s = ix_begins_again(t, e, bytes, word) ? ix_slot_at_home(key) : NULL;
    if (IX_UNLIKELY(!s)) {
        begin_anew(t, key, bytes, word, operation);
        return;
    }
    ix_open_again(t, e, &s->open);
    ix_count_begin(t, (uint64_t)e->what.open_ns);
    ix_note_begin_again(t, e);
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

static void lose(ix_thread *t, ix_slot *s, int cancelled)
{
    if (s->kind == IX_ONE || s->state == IX_ACTIVE) {
        s->open.what.unsized |= (uint8_t)cancelled;
        ix_close_unknown(t, &s->open);
        s->state = IX_INACTIVE;
    }
    ix_lose_members(t, s);
}

void ix_start_request(ix_thread *t, uint64_t handle)
{
    ix_slot *s = ix_outermost(t) ? ix_slot_find(ix_request_key(handle)) : NULL;
    if (!s || !ix_is_persistent(s) || s->state == IX_ENDING)
        return;
    /* what can start again has ended: unseen, or with an error */
    if (s->state == IX_ACTIVE || atomic_load_explicit(&s->members, memory_order_relaxed))
        lose(t, s, 0);
    if (!ix_begins(t, s->template.bytes, s->template.path))
        return;
    ix_open_transfer(t, &s->template, s->operation, &s->open);
    s->state = IX_ACTIVE;
}

/* ---- End */

/* As posted: all that its begin knew stays true. */
static inline int got_what_was_posted(const ix_what *what, int64_t bytes, int path)
{
    return bytes == what->bytes && path == IX_AS_POSTED && what->path != IX_PATH_ANY &&
           (what->silent || !ix_engine.source_paths);
}

static IX_APART void finish_slot(ix_thread *t, ix_slot *s, int64_t bytes, int path)
{
    if (ix_is_persistent(s)) {
        ix_end_members(t, s, IX_ALL, IX_SLACK_NONE);
        if (s->state != IX_ACTIVE)
            return;
        s->state = IX_ENDING;
    }
    /* more than it has room for: the size is that of another one with this handle */
    if (bytes > s->open.what.bytes && atomic_load_explicit(&s->duplicate, memory_order_relaxed))
        bytes = IX_AS_POSTED;
    if (s->open.what.flags & IX_UP_TO)
        ix_received(t, &s->open, bytes, path);
    ix_end_with_call(t, s);
}

static IX_APART void finish_away(ix_thread *t, uint64_t key, int64_t bytes, int path)
{
    ix_slot *s = ix_slot_take(t, key);
    if (s)
        finish_slot(t, s, bytes, path);
}

IX_HOT void ix_finish(ix_thread *t, uint64_t handle, int64_t bytes, int path)
{
    if (!t || !t->depth || t->off)
        return;
    uint64_t key = ix_request_key(handle);
    uint32_t home = ix_home_of(key);
    if (IX_UNLIKELY(!ix_at_home_or_nowhere(home))) {
        finish_away(t, key, bytes, path);
        return;
    }
    ix_slot *s = ix_table.slots + home;
    if (ix_key_at(home) != key)
        return;
    if (IX_UNLIKELY(ix_is_persistent(s))) {
        finish_slot(t, s, bytes, path);
        return;
    }
    atomic_store_explicit(&s->key, IX_BUSY, memory_order_relaxed);
    if (s->open.what.flags & IX_UP_TO) {
        if (IX_UNLIKELY(!got_what_was_posted(&s->open.what, bytes, path))) {
            finish_slot(t, s, bytes, path);
            return;
        }
        s->open.what.flags &= (uint8_t)~IX_UP_TO;
    }
    s->next = t->finished;
    t->finished = home + 1;
    t->touched |= IX_ENDED;
}

void ix_request_free(ix_thread *t, uint64_t handle)
{
    ix_slot *s = t && t->depth && !t->off ? ix_slot_take(t, ix_request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 0);
    ix_slot_release(s);
}

void ix_cancel(ix_thread *t, uint64_t handle)
{
    ix_slot *s = t && t->depth && !t->off ? ix_slot_take(t, ix_request_key(handle)) : NULL;
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
