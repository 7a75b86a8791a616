/* Open transfers by the handle of their request. A slot's key says who owns it: IX_EMPTY, IX_BUSY
 * (one thread fills or empties it, or only a token or a group finds it), or a
 * handle in one of two name spaces. */
#ifndef IMBREX_CORE_SLOTS_H
#define IMBREX_CORE_SLOTS_H

#include "core/transfers.h"

enum { IX_EMPTY = 0, IX_BUSY = 1 };

/* What a slot is: of one transfer where it has none of the first two. */
enum ix_slot_marks {
    IX_PERSISTENT = 1,
    IX_GROUP = 2,
    IX_DUPLICATE = 4, /* another open request had the same handle */
    IX_ACTIVE = 8,    /* a started persistent request */
    IX_ENDING = 16,   /* and one that ends with the call in progress */
};

/* Name spaces of keys, in their lowest bits: requests and groups. */
#define IX_REQUEST_KEY UINT64_C(2)
#define IX_GROUP_KEY UINT64_C(3)

/* Three lines of the cache: what finds a transfer; the clocks at its begin and what its end needs;
 * what only the rare end needs. */
typedef struct ix_slot {
    _Alignas(64) _Atomic uint64_t key;
    _Atomic uint64_t sequence;
    _Atomic(struct ix_slot *) members; /* the first of a group or of the partitions */
    struct ix_slot *next;              /* in a list of members or of what ends with a call */
    _Atomic uint32_t marks;            /* enum ix_slot_marks */
    _Atomic uint16_t reach; /* how far from this home the keys of this home were ever put */
    int32_t tag;            /* of a member of a group */
    int32_t reserved;
    int64_t start_bytes; /* IX_PERSISTENT: what each start begins */
    ix_packed start;
    ix_open open;
} ix_slot;
_Static_assert(sizeof(ix_slot) == 192, "three lines");

enum { IX_SHARED_MAX = 64 };

typedef struct ix_slot_table {
    ix_slot *slots;
    uint32_t mask, capacity;
    uint64_t shared_bits;    /* by hash: whether any shared handle may be in this 64th */
    _Atomic uint32_t recent; /* where to look first for one that needs no key */
    /* how many slots were ever taken and given back: the difference is in use */
    _Atomic uint64_t sequence, released;
    uint64_t shared[4 * IX_SHARED_MAX]; /* keys of shared handles, by hash, 0: none */
    uint32_t shared_count;
} ix_slot_table;

extern IX_HIDDEN ix_slot_table ix_table;

/* An owned slot near the home of `key`; NULL when the table is full. */
IX_HIDDEN ix_slot *ix_slot_reserve(uint64_t key);

/* The same for what only a token or a group finds: the one used last, so that few lines of the
 * cache serve. It stays IX_BUSY until it is released. */
IX_HIDDEN ix_slot *ix_slot_reserve_any(void);
IX_HIDDEN void ix_slot_release_any(ix_slot *s);

/* Let others find the slot. Whoever sees another slot of the same handle marks both. */
IX_HIDDEN void ix_slot_publish(ix_slot *s, uint64_t key);

/* The oldest slot of a key. */
IX_HIDDEN ix_slot *ix_slot_find(uint64_t key);

/* The same, owned where it is not persistent. */
IX_HIDDEN ix_slot *ix_slot_take_any(const ix_thread *t, uint64_t key);

/* groups.c: what ends with a group, or stays open for good. */
IX_HIDDEN void ix_end_members(ix_thread *t, ix_slot *group, int32_t tag, uint8_t slack);
IX_HIDDEN void ix_lose_members(ix_thread *t, ix_slot *group);

static inline uint64_t ix_request_key(uint64_t handle)
{
    return handle << 2 | IX_REQUEST_KEY;
}

static inline uint64_t ix_group_key(uint64_t group)
{
    return group << 2 | IX_GROUP_KEY;
}

static inline uint32_t ix_home_of(uint64_t key)
{
    return (uint32_t)(ix_scatter(key) >> 32) & ix_table.mask;
}

/* Where the key of a shared handle is, or would be: *it is 0 then. */
static inline uint64_t *ix_shared_place(uint64_t key)
{
    uint32_t i = (uint32_t)(ix_scatter(key) >> 56);
    while (ix_table.shared[i] && ix_table.shared[i] != key)
        i = (i + 1) % (4 * IX_SHARED_MAX);
    return &ix_table.shared[i];
}

static inline uint64_t ix_shared_bit(uint64_t key)
{
    return UINT64_C(1) << (ix_scatter(key) >> 58);
}

static inline int ix_may_be_shared(uint64_t key)
{
    return ix_table.shared_bits >> (ix_scatter(key) >> 58) & 1;
}

static inline int ix_is_shared(uint64_t key)
{
    return ix_may_be_shared(key) && *ix_shared_place(key);
}

static inline uint64_t ix_key_at(uint32_t i)
{
    return atomic_load_explicit(&ix_table.slots[i].key, memory_order_acquire);
}

/* Become the owner of slot i, whose key is `key`. */
static inline int ix_own(uint32_t i, uint64_t key)
{
    if (ix_share.concurrent)
        return atomic_compare_exchange_strong_explicit(&ix_table.slots[i].key, &key, IX_BUSY,
                                                       memory_order_acq_rel, memory_order_relaxed);
    atomic_store_explicit(&ix_table.slots[i].key, IX_BUSY, memory_order_relaxed);
    return 1;
}

static inline uint64_t ix_slots_in_use(void)
{
    return atomic_load_explicit(&ix_table.sequence, memory_order_relaxed) -
           atomic_load_explicit(&ix_table.released, memory_order_relaxed);
}

static inline void ix_slot_empty(ix_slot *s)
{
    atomic_store_explicit(&s->key, IX_EMPTY, memory_order_release);
}

static inline void ix_slot_release(ix_slot *s)
{
    ix_slot_empty(s);
    ix_add(&ix_table.released, 1);
}

static inline uint32_t ix_is_marked(const ix_slot *s, uint32_t marks)
{
    return atomic_load_explicit(&s->marks, memory_order_relaxed) & marks;
}

/* Another thread may mark the slot as a duplicate meanwhile. */
static inline void ix_mark(ix_slot *s, uint32_t set, uint32_t clear)
{
    uint32_t marks = atomic_load_explicit(&s->marks, memory_order_relaxed);
    if (IX_LIKELY(!ix_share.concurrent)) {
        atomic_store_explicit(&s->marks, (marks & ~clear) | set, memory_order_relaxed);
        return;
    }
    while (!atomic_compare_exchange_weak_explicit(&s->marks, &marks, (marks & ~clear) | set,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* No key of this home was ever put elsewhere, and no other thread calls meanwhile: a key that the
 * home does not hold is not in the table. */
static inline int ix_at_home_or_nowhere(int concurrent, uint32_t home)
{
    return !concurrent &&
           atomic_load_explicit(&ix_table.slots[home].reach, memory_order_relaxed) == 0;
}

/* A slot that its owner has just taken. */
static inline void ix_slot_clear(ix_slot *s, uint64_t order)
{
    atomic_store_explicit(&s->sequence, order, memory_order_relaxed);
    atomic_store_explicit(&s->members, NULL, memory_order_relaxed);
    atomic_store_explicit(&s->marks, 0, memory_order_relaxed);
}

/* reserve, and publish at once: at its home, if that is free and nobody can look meanwhile. NULL:
 * the long way. */
static inline ix_slot *ix_slot_at_home(int concurrent, uint64_t key)
{
    uint32_t home = ix_home_of(key);
    ix_slot *s = ix_table.slots + home;
    uint64_t order = atomic_load_explicit(&ix_table.sequence, memory_order_relaxed);
    uint64_t released = atomic_load_explicit(&ix_table.released, memory_order_relaxed);
    if (IX_UNLIKELY(!ix_at_home_or_nowhere(concurrent, home) || ix_key_at(home) != IX_EMPTY ||
                    order - released >= ix_table.capacity))
        return NULL;
    atomic_store_explicit(&ix_table.sequence, order + 1, memory_order_relaxed);
    atomic_store_explicit(&s->key, key, memory_order_relaxed);
    ix_slot_clear(s, order);
    return s;
}

static inline ix_slot *ix_slot_take(const ix_thread *t, uint64_t key)
{
    uint32_t home = ix_home_of(key);
    if (IX_LIKELY(ix_at_home_or_nowhere(ix_share.concurrent, home))) {
        ix_slot *s = ix_table.slots + home;
        if (ix_key_at(home) != key)
            return NULL;
        if (IX_LIKELY(!ix_is_marked(s, IX_PERSISTENT)))
            atomic_store_explicit(&s->key, IX_BUSY, memory_order_relaxed);
        return s;
    }
    return ix_slot_take_any(t, key);
}

static inline void ix_end_with_call(ix_thread *t, ix_slot *s)
{
    s->next = t->finished;
    t->finished = s;
    ix_to_settle(t);
}

#endif
