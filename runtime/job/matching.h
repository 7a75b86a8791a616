/* At MPI_Finalize: the ranks tell each other when they called what, and each makes its rows of
 * evidence, causes, waits and partners (analysis/). No rank reads another's log. */
#ifndef IMBREX_JOB_MATCHING_H
#define IMBREX_JOB_MATCHING_H

#include "analysis/analyze.h"
#include "core/thread.h"
#include "generated/ix_mpi.h"

/* What rank 0 says of the job in job.json. */
typedef struct ix_matching_facts {
    const char *reason; /* why nothing was matched; NULL: it was */
    uint64_t budget_bytes;
    double logged_share;
    int64_t windows;
    uint32_t level;
    int64_t matched, unmatched[IX_MATCH_STATES];
    int64_t error_ns;                 /* of the clocks of matched ranks; IX_CLOCK_UNKNOWN */
    int64_t violations;               /* matches that the clocks do not allow */
    int64_t kept_from_ns, kept_to_ns; /* of what part single calls are kept, since the run began */
    double seconds;                   /* what it took, on the slowest rank */
} ix_matching_facts;

/* Collective over `all`, between ix_stop and ix_release; `measured`: this rank has a profile. 1
 * with this rank's rows (its own numbers of sites and sections) on all ranks, or 0 on all. */
IX_HIDDEN int ix_match_calls(MPI_Comm all, int measured, ix_analysis *analysis,
                             ix_matching_facts *facts);

/* The reason's name in job.json. */
IX_HIDDEN const char *ix_match_state_name(int state);

#endif
