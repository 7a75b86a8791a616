/* Transfers that end together: of a window, or the partitions of a request. */
#include "slots.h"

static void add_member(ix_slot *group, ix_slot *s)
{
    uint32_t head = atomic_load_explicit(&group->members, memory_order_relaxed);
    do {
        s->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&group->members, &head,
                                                    (uint32_t)(s - ix_table.slots) + 1,
                                                    memory_order_release, memory_order_relaxed));
}

static ix_slot *group_slot(uint64_t group)
{
    uint64_t key = (group & IX_HANDLE_BITS) | IX_GROUP_KEY;
    ix_slot *s = ix_slot_find(key);
    if (s)
        return s;
    s = ix_slot_find(ix_request_key(group));
    if (s && ix_is_persistent(s))
        return s;
    s = ix_slot_reserve(key);
    if (!s)
        return NULL;
    atomic_store_explicit(&s->kind, IX_GROUP, memory_order_relaxed);
    ix_slot_publish(s, key);
    /* another thread may have made the same group: the older one stays */
    ix_slot *first = ix_slot_find(key);
    if (first != s)
        ix_slot_release(s);
    return first;
}

void ix_begin_in_group(ix_thread *t, uint64_t group, int32_t tag, const ix_transfer *transfer)
{
    if (!ix_begins(t, transfer->bytes, transfer->path))
        return;
    ix_slot *g = group_slot(group);
    ix_slot *s = g ? ix_slot_reserve_any() : NULL;
    ix_open none, *open = s ? &s->open : &none;
    ix_transfer alone = *transfer;
    alone.flags |= IX_CALL_ONLY;
    ix_open_transfer(t, &alone, g && ix_is_persistent(g) ? g->operation : t->operation, open);
    if (!s) {
        ix_close_unknown(t, open);
        return;
    }
    s->tag = tag;
    add_member(g, s);
}

void ix_end_members(ix_thread *t, ix_slot *group, int32_t tag, uint8_t slack)
{
    uint32_t i = atomic_exchange_explicit(&group->members, 0, memory_order_acquire);
    while (i) {
        ix_slot *s = ix_table.slots + i - 1;
        i = s->next;
        if (tag == IX_ALL || s->tag == tag) {
            uint8_t larger = ix_larger_slack(s->open.what.slack, slack);
            s->open.what.usual &= larger == s->open.what.slack;
            s->open.what.slack = larger;
            ix_end_with_call(t, s);
        } else {
            add_member(group, s);
        }
    }
}

void ix_finish_group(ix_thread *t, uint64_t group, int32_t tag, enum ix_slack slack)
{
    if (!t || !t->depth || t->off)
        return;
    ix_slot *g = ix_slot_find((group & IX_HANDLE_BITS) | IX_GROUP_KEY);
    if (g)
        ix_end_members(t, g, tag, (uint8_t)slack);
}

void ix_forget_group(ix_thread *t, uint64_t group)
{
    if (!t || !t->depth || t->off)
        return;
    uint64_t key = (group & IX_HANDLE_BITS) | IX_GROUP_KEY;
    ix_slot *g = ix_slot_find(key);
    if (g && ix_own((uint32_t)(g - ix_table.slots), key))
        ix_slot_release(g);
}

void ix_lose_members(ix_thread *t, ix_slot *group)
{
    uint32_t i = atomic_exchange_explicit(&group->members, 0, memory_order_acquire);
    while (i) {
        ix_slot *s = ix_table.slots + i - 1;
        i = s->next;
        ix_close_unknown(t, &s->open);
        ix_slot_release_any(s);
    }
}
