/* Transfers that end together: of a window, or the partitions of a request. */
#include "core/slots.h"

static void add_member(ix_slot *group, ix_slot *s)
{
    ix_slot *first = atomic_load_explicit(&group->members, memory_order_relaxed);
    do {
        s->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&group->members, &first, s,
                                                    memory_order_release, memory_order_relaxed));
}

static ix_slot *group_slot(uint64_t group)
{
    uint64_t key = ix_group_key(group);
    ix_slot *s = ix_slot_find(key);
    if (s)
        return s;
    s = ix_slot_find(ix_request_key(group));
    if (s && ix_is_marked(s, IX_PERSISTENT))
        return s;
    s = ix_slot_reserve(key);
    if (!s)
        return NULL;
    ix_mark(s, IX_GROUP, 0);
    ix_slot_publish(s, key);
    /* another thread may have made the same group: the older one stays */
    ix_slot *first = ix_slot_find(key);
    if (first != s)
        ix_slot_release(s);
    return first;
}

/* Partitions are of the operation of their request's init call. */
static uint32_t operation_of(const ix_thread *t, const ix_slot *group)
{
    int is_request = group && ix_is_marked(group, IX_PERSISTENT);
    return is_request ? (uint32_t)(group->start >> IX_PACKED_OPERATION & 0xffff) - 1 : t->operation;
}

void ix_begin_in_group(ix_thread *t, uint64_t group, int32_t tag, const ix_transfer *transfer)
{
    if (!ix_outermost(t) || transfer->bytes <= 0 || transfer->path == IX_PATH_NONE)
        return;
    ix_slot *g = group_slot(group);
    ix_slot *s = g ? ix_slot_reserve_any() : NULL;
    ix_open none, *open = s ? &s->open : &none;
    ix_transfer alone = *transfer;
    alone.flags |= IX_CALL_ONLY;
    ix_packed packed = ix_pack_for(&alone, operation_of(t, g));
    ix_open_in_call(t, ix_descriptor_of(t, alone.bytes, packed), open);
    if (!s) {
        ix_close_unknown(t, open);
        return;
    }
    s->tag = tag;
    add_member(g, s);
}

void ix_end_members(ix_thread *t, ix_slot *group, int32_t tag, uint8_t slack)
{
    ix_slot *next, *s = atomic_exchange_explicit(&group->members, NULL, memory_order_acquire);
    for (; s; s = next) {
        next = s->next;
        if (tag == IX_ALL || s->tag == tag) {
            ix_widen_slack(&s->open.descriptor, slack);
            if (s->open.thread != t)
                s->open.descriptor.flags &= (uint8_t)~IX_RESOLVED;
            ix_end_with_call(t, s);
        } else {
            add_member(group, s);
        }
    }
}

void ix_finish_group(ix_thread *t, uint64_t group, int32_t tag, enum ix_slack slack)
{
    if (!ix_in_call(t))
        return;
    ix_slot *g = ix_slot_find(ix_group_key(group));
    if (g)
        ix_end_members(t, g, tag, (uint8_t)slack);
}

void ix_forget_group(ix_thread *t, uint64_t group)
{
    if (!ix_in_call(t))
        return;
    uint64_t key = ix_group_key(group);
    ix_slot *g = ix_slot_find(key);
    if (g && ix_own((uint32_t)(g - ix_table.slots), key))
        ix_slot_release(g);
}

void ix_lose_members(ix_thread *t, ix_slot *group)
{
    ix_slot *next, *s = atomic_exchange_explicit(&group->members, NULL, memory_order_acquire);
    for (; s; s = next) {
        next = s->next;
        ix_close_unknown(t, &s->open);
        ix_slot_release_any(s);
    }
}
