#ifndef IMBREX_DIRECT
#include "transport/self_messages.h"

#include <stdatomic.h>
#include <stddef.h>

#define ONE_AGE (UINT64_C(1) << 32)

static _Atomic uint64_t age;

static uint64_t key_of(const ix_self_messages *sent, uint64_t tag, uint64_t data)
{
    return ((tag & ~sent->mpi_tag_bits) ^ data * 0xff51afd7ed558ccdu) + 1;
}

/* The slot of a key, or the free one that it would get; NULL: no room. */
static _Atomic uint64_t *slot_of(ix_self_messages *sent, uint64_t key)
{
    uint32_t home = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 54);
    for (uint32_t n = 0; n < IX_SELF_MESSAGES; n++) {
        _Atomic uint64_t *slot = &sent->keys[(home + n) % IX_SELF_MESSAGES];
        uint64_t there = atomic_load_explicit(slot, memory_order_acquire);
        if (!there || there == key)
            return slot;
    }
    return NULL;
}

void ix_self_messages_freed(uint64_t communicator)
{
    (void)communicator;
    atomic_fetch_add(&age, ONE_AGE);
}

/* One more that is under way, of this age. */
static void count_sent(_Atomic uint64_t *state)
{
    uint64_t was = atomic_load(state), now;
    do
        now = atomic_load(&age) | ((uint32_t)was + 1);
    while (!atomic_compare_exchange_weak(state, &was, now));
}

/* Whether one was under way, or has been since a communicator was last freed. */
static int count_received(_Atomic uint64_t *state)
{
    uint64_t was = atomic_load(state);
    while ((uint32_t)was)
        if (atomic_compare_exchange_weak(state, &was, was - 1))
            return 1;
    return was == atomic_load(&age);
}

int ix_self_sent(ix_self_messages *sent, uint64_t tag, uint64_t data)
{
    uint64_t key = key_of(sent, tag, data), free_key = 0;
    for (;;) {
        _Atomic uint64_t *slot = slot_of(sent, key);
        if (!slot)
            return 0;
        free_key = 0;
        if (atomic_load_explicit(slot, memory_order_relaxed) == key ||
            atomic_compare_exchange_strong(slot, &free_key, key)) {
            count_sent(&sent->states[slot - sent->keys]);
            return 1;
        }
    }
}

int ix_from_self(ix_self_messages *sent, uint64_t tag, uint64_t data)
{
    _Atomic uint64_t *slot = slot_of(sent, key_of(sent, tag, data));
    return slot && atomic_load_explicit(slot, memory_order_relaxed) &&
           count_received(&sent->states[slot - sent->keys]);
}

#endif
