/* Each rank sends blocks of bytes to whom it likes; nobody knows beforehand who gets what. */
#ifndef IMBREX_JOB_SPARSE_H
#define IMBREX_JOB_SPARSE_H

#include <stddef.h>

#include "core/thread.h"
#include "generated/ix_mpi.h"

enum { IX_BLOCK_BYTES = 1 << 17 };

/* Fills `block` (room for IX_BLOCK_BYTES) with what comes next and says for whom; returns its
 * bytes, 0 when there is no more. Its own rank may be among the receivers. */
typedef size_t ix_next_block(void *context, int *rank, void *block);

/* A block from `rank`. */
typedef void ix_hear_block(void *context, int rank, const void *block, size_t bytes);

typedef struct ix_sparse ix_sparse;

/* Memory for the exchanges, on all ranks or (NULL) on none. Collective. */
IX_HIDDEN ix_sparse *ix_sparse_start(MPI_Comm all);
IX_HIDDEN void ix_sparse_end(ix_sparse *sparse);

/* Send all that `next` gives, hear all that is for this rank, and return when no rank has more to
 * send. Each exchange has a `tag` of its own. Collective, but each rank sends and hears only its
 * own blocks: the non-blocking consensus of Hoefler, Siebert and Lumsdaine (PPoPP 2010). 0, or -1
 * where the library failed. */
IX_HIDDEN int ix_sparse_exchange(ix_sparse *sparse, int tag, ix_next_block *next,
                                 ix_hear_block *hear, void *context);

#endif
