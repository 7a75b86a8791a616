/* Partitioned messages: which MPI_Pready belong to which start of a send, and which MPI_Parrived to
 * which of a receive. */
#ifndef IMBREX_ANALYSIS_PARTITIONS_H
#define IMBREX_ANALYSIS_PARTITIONS_H

#include "analysis/log_view.h"

/* The MPI_Pready of a send that were entered first and last; IX_NO_END where not all of its bytes
 * were seen to become ready. */
typedef struct ix_ready {
    uint32_t first, last;
} ix_ready;

/* *ready, on the heap: by record of a partitioned send; NULL: nothing is partitioned. 0, or -1
 * without memory. */
int ix_find_ready(const ix_view *view, ix_ready **ready);

/* After all was heard: each MPI_Pready is matched as its send is, each MPI_Parrived as its receive.
 */
void ix_match_partitions(ix_view *view);

#endif
