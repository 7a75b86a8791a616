#include "mpi/notes.h"

#define SLOTS 8192
#define PROBES 16
#define BUSY 1u /* no handle: being filled */

typedef struct slot {
    _Atomic uint64_t key; /* 0: free */
    ix_note note;
} slot;

static slot slots[SLOTS];
_Atomic int32_t ix_notes_used;

static uint32_t first_of(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 51);
}

int ix_note_add(uint64_t key, ix_note note)
{
    for (uint32_t i = first_of(key), n = 0; n < PROBES; n++) {
        slot *s = &slots[(i + n) % SLOTS];
        uint64_t free_key = 0;
        if (atomic_load_explicit(&s->key, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&s->key, &free_key, BUSY)) {
            s->note = note;
            atomic_store_explicit(&s->key, key, memory_order_release);
            atomic_fetch_add_explicit(&ix_notes_used, 1, memory_order_relaxed);
            return 1;
        }
    }
    return 0;
}

int ix_note_get(uint64_t key, int forget, ix_note *note)
{
    for (uint32_t i = first_of(key), n = 0; n < PROBES; n++) {
        slot *s = &slots[(i + n) % SLOTS];
        if (atomic_load_explicit(&s->key, memory_order_acquire) == key) {
            *note = s->note;
            if (forget == 2 || (forget == 1 && !note->stays)) {
                atomic_fetch_sub_explicit(&ix_notes_used, 1, memory_order_relaxed);
                atomic_store_explicit(&s->key, 0, memory_order_release);
            }
            return 1;
        }
    }
    return 0;
}
