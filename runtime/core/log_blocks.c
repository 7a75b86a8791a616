/* How large the blocks of collectives are whose blocks differ. */
#include "core/log_records.h"

int ix_log_has_room_for_blocks(void)
{
    const ix_log_header *h = ix_log_memory.header;
    return __atomic_load_n(&h->level, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&h->chunks_used, __ATOMIC_RELAXED) <= h->chunks / 2;
}

void ix_log_blocks(ix_thread *t, uint32_t comm, uint32_t sequence, uint32_t flags,
                   uint32_t unit_bits, const uint32_t *sizes)
{
    ix_log_record *r = ix_outermost(t) ? ix_log_reserve(t) : NULL;
    if (!r)
        return;
    uint64_t bytes = sizes[0] | (uint64_t)sizes[1] << 32;
    ix_log_fill(t, r, (int64_t)bytes, ix_log_where(comm, (int32_t)sizes[2]),
                ix_log_envelope((int32_t)sizes[3], IX_LOG_BLOCKS, unit_bits, flags), sequence,
                IX_LOG_OPEN);
}
