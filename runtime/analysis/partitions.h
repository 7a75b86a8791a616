/* Partitioned sends: which MPI_Pready belong to which start. */
#ifndef IMBREX_ANALYSIS_PARTITIONS_H
#define IMBREX_ANALYSIS_PARTITIONS_H

#include "analysis/log_view.h"

/* *ready, on the heap: by record of a partitioned send the MPI_Pready that was entered last, or
 * IX_NO_END where not all of its bytes were seen to become ready; NULL: nothing is partitioned. 0,
 * or -1 without memory. */
int ix_find_ready(const ix_view *view, uint32_t **ready);

/* After all was heard: each MPI_Pready is matched as its send is. */
void ix_match_partitions(ix_view *view);

#endif
