/* Single calls around a typical iteration, of the same part of the run on all ranks: timeline.npy.
 *
 * The rank that loses most at a call site proposes where; how much around that is kept follows from
 * the room of each rank, so that the whole stays small. */
#ifndef IMBREX_JOB_KEPT_CALLS_H
#define IMBREX_JOB_KEPT_CALLS_H

#include "analysis/excerpt.h"
#include "core/thread.h"
#include "generated/ix_mpi.h"

/* What one rank keeps calls of. `log` NULL: nothing, but it takes part. */
typedef struct ix_kept_calls {
    const ix_view *view;
    const ix_log_header *log;
    int64_t start_ns; /* of its records, on its clock */
    uint32_t level;   /* of the windows that all ranks have */
    ix_facts_of *facts;
    const void *context;
} ix_kept_calls;

/* The stakes of all ranks are compared by this number: the largest wins. Not collective. */
IX_HIDDEN long long ix_stake(const ix_kept_calls *kept, const ix_analysis *analysis, int rank,
                             int64_t *at_ns);

/* In how many stretches each of so many ranks tells what it did (overview.npy). */
IX_HIDDEN uint32_t ix_stretches(int ranks);

/* The stretches become rows on the run's clock, which begins at `begin_ns` of the common one. */
IX_HIDDEN void ix_keep_overview(const ix_kept_calls *kept, const ix_overview *overview,
                                ix_analysis *analysis, int64_t begin_ns);

/* Collective over `all`: add the rows. `best`: the largest stake of all ranks; `at_ns`: what this
 * rank would propose; `begin_ns`: when the first rank began, on the common clock. Where rows lack
 * memory there are none of this rank. */
IX_HIDDEN void ix_keep_calls(MPI_Comm all, const ix_kept_calls *kept, ix_analysis *analysis,
                             long long best, int64_t at_ns, int64_t begin_ns, int64_t *from_ns,
                             int64_t *to_ns);

#endif
