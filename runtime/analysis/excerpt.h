/* The calls around a typical iteration, one by one (timeline.npy): a time line needs them, and a
 * whole log would be too much to keep. All ranks keep the same stretch of time. */
#ifndef IMBREX_ANALYSIS_EXCERPT_H
#define IMBREX_ANALYSIS_EXCERPT_H

#include "analysis/analyze.h"

/* What a rank proposes: the call most like the others of the site at which it loses most. */
typedef struct ix_proposal {
    int64_t stake_ns; /* what it loses there; -1: it has nothing to propose */
    int64_t at_ns;    /* the middle of that call */
} ix_proposal;

ix_proposal ix_excerpt_propose(const ix_view *view, const ix_analysis *analysis);

/* How far from `at_ns`, to both sides, at most `most` records lie; INT64_MAX: all do. */
int64_t ix_excerpt_reach(const ix_view *view, int64_t at_ns, uint32_t most);

/* Add a row for each record of the calls between from_ns and to_ns to IX_TIMELINE_ROWS; their times
 * are this rank's. 0, or -1 without memory. */
int ix_excerpt_rows(ix_analysis *analysis, const ix_view *view, int64_t from_ns, int64_t to_ns,
                    ix_facts_of *facts, const void *context);

#endif
