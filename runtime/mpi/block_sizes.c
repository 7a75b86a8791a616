#include "mpi/block_sizes.h"

static int64_t type_bytes(const ix_block_list *list, int32_t k)
{
    if (list->fortran)
        return ix_type_bytes(PMPI_Type_f2c(((const MPI_Fint *)list->types)[k]));
    return ix_type_bytes(((const MPI_Datatype *)list->types)[k]);
}

/* `each`: bytes of an element, where all are of one type. The type of an empty block need not be
 * one. */
static inline IX_ALWAYS int64_t size_of(const ix_block_list *list, int64_t each, int32_t k)
{
    int64_t count = list->count_bytes == sizeof(int64_t) ? ((const int64_t *)list->counts)[k]
                                                         : ((const int32_t *)list->counts)[k];
    if (IX_UNLIKELY(list->types))
        return count ? count * type_bytes(list, k) : 0;
    return count * each;
}

typedef struct extent {
    int64_t least, most; /* of all but the own */
    int64_t largest;     /* of all */
} extent;

static extent extent_of(const ix_block_list *list, int64_t each, int32_t count, int own)
{
    extent x = {INT64_MAX, 0, 0};
    for (int32_t k = 0; k < count; k++) {
        int64_t bytes = size_of(list, each, k);
        x.largest = bytes > x.largest ? bytes : x.largest;
        if (k == own)
            continue;
        x.least = bytes < x.least ? bytes : x.least;
        x.most = bytes > x.most ? bytes : x.most;
    }
    return x;
}

void ix_log_block_sizes(ix_thread *t, ix_comm *c, int own, int is_persistent, int64_t bytes,
                        const ix_block_list *list)
{
    if (c->peers < 2)
        return;
    int64_t each = list->types ? 0 : ix_type_bytes(list->type);
    extent x = extent_of(list, each, c->peers, own);
    if (x.least == x.most && x.most * c->peers == bytes)
        return;
    uint32_t sequence =
        atomic_load_explicit(is_persistent ? &c->inits : &c->collectives, memory_order_relaxed);
    uint32_t flags = is_persistent ? IX_LOG_PERSISTENT : 0, unit_bits = 0;
    if (c->peers > IX_LOG_MOST_BLOCKS || !ix_log_has_room_for_blocks()) {
        ix_log_blocks(t, c->number, sequence, flags, IX_LOG_UNTOLD,
                      (uint32_t[IX_LOG_BLOCK_SIZES]){0});
        return;
    }
    while (x.largest >> unit_bits > UINT32_MAX)
        unit_bits++;
    for (int32_t k = 0; k < c->peers; k += IX_LOG_BLOCK_SIZES) {
        uint32_t sizes[IX_LOG_BLOCK_SIZES] = {0};
        for (int32_t i = 0; i < IX_LOG_BLOCK_SIZES && k + i < c->peers; i++)
            sizes[i] = (uint32_t)(size_of(list, each, k + i) >> unit_bits);
        ix_log_blocks(t, c->number, sequence, flags, unit_bits, sizes);
    }
}
