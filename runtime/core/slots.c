/* The table of open transfers: open addressing with linear probing. Threads that call at the same
 * time take and give slots by compare-and-swap of the key alone. */
#include "core/slots.h"

ix_slot_table ix_table;

size_t ix_requests_bytes(uint32_t capacity)
{
    size_t slots = ix_power_of_two(2 * capacity);
    return slots * sizeof(ix_slot);
}

void ix_requests_start(void *memory, uint32_t capacity)
{
    uint32_t slots = ix_power_of_two(2 * capacity);
    ix_table.mask = slots - 1;
    ix_table.capacity = capacity;
    ix_table.slots = memory;
    atomic_store(&ix_table.sequence, 0);
    atomic_store(&ix_table.released, 0);
    atomic_store(&ix_table.recent, 0);
    ix_table.shared_count = 0;
    ix_table.shared_bits = 0;
    memset(ix_table.shared, 0, sizeof ix_table.shared);
}

static void extend_reach(uint32_t home, uint32_t distance)
{
    uint16_t known = atomic_load_explicit(&ix_table.slots[home].reach, memory_order_relaxed);
    uint16_t wanted = distance > UINT16_MAX ? UINT16_MAX : (uint16_t)distance;
    while (known < wanted &&
           !atomic_compare_exchange_weak_explicit(&ix_table.slots[home].reach, &known, wanted,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static uint32_t reach_of(uint32_t home)
{
    uint16_t reach = atomic_load_explicit(&ix_table.slots[home].reach, memory_order_acquire);
    return reach == UINT16_MAX ? ix_table.mask : reach;
}

/* Slot i, if it was empty: owned now. */
static ix_slot *take_empty(uint32_t i)
{
    if (ix_key_at(i) != IX_EMPTY || !ix_own(i, IX_EMPTY))
        return NULL;
    uint64_t order = atomic_load_explicit(&ix_table.sequence, memory_order_relaxed);
    if (ix_share.concurrent)
        order = atomic_fetch_add(&ix_table.sequence, 1);
    else
        atomic_store_explicit(&ix_table.sequence, order + 1, memory_order_relaxed);
    ix_slot_clear(ix_table.slots + i, order);
    return ix_table.slots + i;
}

ix_slot *ix_slot_reserve(uint64_t key)
{
    if (ix_slots_in_use() >= ix_table.capacity)
        return NULL;
    uint32_t home = ix_home_of(key);
    for (uint32_t d = 0; d <= ix_table.mask; d++) {
        ix_slot *s = take_empty((home + d) & ix_table.mask);
        if (s) {
            extend_reach(home, d);
            return s;
        }
    }
    return NULL;
}

ix_slot *ix_slot_reserve_any(void)
{
    if (ix_slots_in_use() >= ix_table.capacity)
        return NULL;
    uint32_t first = atomic_load_explicit(&ix_table.recent, memory_order_relaxed);
    for (uint32_t d = 0; d <= ix_table.mask; d++) {
        uint32_t i = (first + d) & ix_table.mask;
        ix_slot *s = take_empty(i);
        if (s) {
            atomic_store_explicit(&ix_table.recent, i + 1, memory_order_relaxed);
            return s;
        }
    }
    return NULL;
}

void ix_slot_release_any(ix_slot *s)
{
    atomic_store_explicit(&ix_table.recent, (uint32_t)(s - ix_table.slots), memory_order_relaxed);
    ix_slot_release(s);
}

void ix_slot_publish(ix_slot *s, uint64_t key)
{
    uint32_t self = (uint32_t)(s - ix_table.slots), home = ix_home_of(key), reach = reach_of(home);
    atomic_store_explicit(&s->key, key, memory_order_release);
    if (ix_share.concurrent)
        atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t d = 0; d <= reach; d++) {
        uint32_t i = (home + d) & ix_table.mask;
        if (i != self && ix_key_at(i) == key) {
            ix_mark(&ix_table.slots[i], IX_DUPLICATE, 0);
            ix_mark(s, IX_DUPLICATE, 0);
        }
    }
}

ix_slot *ix_slot_find(uint64_t key)
{
    uint32_t home = ix_home_of(key), reach = reach_of(home);
    ix_slot *best = NULL;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t d = 0; d <= reach; d++) {
        uint32_t i = (home + d) & ix_table.mask;
        if (ix_key_at(i) != key)
            continue;
        ix_slot *s = ix_table.slots + i;
        uint64_t order = atomic_load_explicit(&s->sequence, memory_order_relaxed);
        if (order < best_order) {
            best_order = order;
            best = s;
        }
    }
    return best;
}

/* The oldest of this thread, where there is one. A library gives a handle away as soon as it has
 * completed it, so that another thread may begin and finish with it before this one says so here;
 * what that thread knows of its receive is not to be told of this one's send. */
static ix_slot *rather_mine(const ix_thread *t, uint64_t key, ix_slot *oldest)
{
    uint32_t home = ix_home_of(key), reach = reach_of(home);
    ix_slot *best = NULL;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t d = 0; d <= reach; d++) {
        uint32_t i = (home + d) & ix_table.mask;
        ix_slot *s = ix_table.slots + i;
        if (ix_key_at(i) != key || ix_is_marked(s, IX_PERSISTENT) ||
            __atomic_load_n(&s->open.thread, __ATOMIC_RELAXED) != t)
            continue;
        uint64_t order = atomic_load_explicit(&s->sequence, memory_order_relaxed);
        if (order < best_order) {
            best_order = order;
            best = s;
        }
    }
    return best ? best : oldest;
}

/* Until the slot is owned another thread may give it away:
 * then its key has changed. */
ix_slot *ix_slot_take_any(const ix_thread *t, uint64_t key)
{
    for (;;) {
        ix_slot *s = ix_slot_find(key);
        if (!s)
            return NULL;
        if (ix_is_marked(s, IX_DUPLICATE))
            s = rather_mine(t, key, s);
        uint32_t i = (uint32_t)(s - ix_table.slots);
        if (ix_is_marked(s, IX_PERSISTENT)) {
            if (ix_key_at(i) == key)
                return s;
        } else if (ix_own(i, key)) {
            return s;
        }
    }
}

int ix_any_open(void)
{
    return ix_slots_in_use() != 0 ||
           atomic_load_explicit(&ix_share.needing, memory_order_relaxed) != 0;
}
