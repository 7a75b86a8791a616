/* The sizes of the blocks of v and w collectives, for the call log: after the record of the
 * collective itself. */
#ifndef IMBREX_MPI_BLOCK_SIZES_H
#define IMBREX_MPI_BLOCK_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "core/call_logging.h"
#include "mpi/comms.h"
#include "mpi/types.h"

/* One block for each member of an intracommunicator: `counts` numbers of count_bytes each, of
 * `type` or of `types` (Fortran's handles if `fortran`). */
typedef struct ix_block_list {
    const void *counts;
    size_t count_bytes;
    MPI_Datatype type;
    const void *types;
    int fortran;
} ix_block_list;

/* Log them, unless all are what `bytes` of the record divide into equally. `own`: the member whose
 * block stays where it is, -1: none does. */
IX_HIDDEN void ix_log_block_sizes(ix_thread *t, ix_comm *c, int own, int is_persistent,
                                  int64_t bytes, const ix_block_list *list);

/* Groups of an intercommunicator have lists of each other: not told. */
#define IX_LOG_LIST(t, c, own, is_persistent, bytes, ...)                                          \
    do {                                                                                           \
        if (ix_log_is_on && (c) && !(c)->inter)                                                    \
            ix_log_block_sizes(t, c, own, is_persistent, bytes, &(ix_block_list){__VA_ARGS__});    \
    } while (0)
#define IX_LOG_BLOCKS_OF(t, c, own, is_persistent, bytes, numbers, datatype)                       \
    IX_LOG_LIST(t, c, own, is_persistent, bytes, .counts = (numbers),                              \
                .count_bytes = sizeof *(numbers), .type = (datatype))
#define IX_LOG_BLOCKS_TYPES(t, c, own, is_persistent, bytes, numbers, datatypes)                   \
    IX_LOG_LIST(t, c, own, is_persistent, bytes, .counts = (numbers),                              \
                .count_bytes = sizeof *(numbers), .types = (datatypes))
#define IX_F_LOG_BLOCKS_TYPES(t, c, own, is_persistent, bytes, numbers, datatypes)                 \
    IX_LOG_LIST(t, c, own, is_persistent, bytes, .counts = (numbers),                              \
                .count_bytes = sizeof *(numbers), .types = (datatypes), .fortran = 1)

#endif
