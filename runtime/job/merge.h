/* What the ranks do together at MPI_Finalize. */
#ifndef IMBREX_JOB_MERGE_H
#define IMBREX_JOB_MERGE_H

#include "core/thread.h"
#include "generated/ix_mpi.h"
#include "job/matching.h"

typedef struct ix_merge_facts {
    const char *directory; /* IMBREX_DIR */
    double event_overhead_ns;
    int64_t core_wait_ns; /* for how long of its time the rank had no core; -1: not known */
    const ix_matching_facts *matching; /* `reason` set: there are no rows of it */
    ix_analysis *analysis;             /* renumbered in place */
} ix_merge_facts;

/* Number sites and sections in common, write measures.npy, ranks.npy, sites.json, job.json and what
 * the matching gave under temporary names, rename them. `measured`: whether this rank has a profile
 * (a rank without one takes part and brings no rows). Collective; 0 on every rank, or -1 on every
 * rank and no file. */
IX_HIDDEN int ix_merge(MPI_Comm all, int measured, const ix_merge_facts *facts);

#endif
