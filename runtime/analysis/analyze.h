/* From a matched log to rows: what each logged transfer and each logged call gives, added up. */
#ifndef IMBREX_ANALYSIS_ANALYZE_H
#define IMBREX_ANALYSIS_ANALYZE_H

#include "analysis/completions.h"
#include "analysis/overview.h"
#include "analysis/rows.h"
#include "core/part.h"

typedef struct ix_analysis {
    ix_rows tables[IX_ROW_TABLES];   /* sites and sections have the rank's own numbers */
    int64_t states[IX_MATCH_STATES]; /* transfers and rounds by what became of their match */
    int64_t largest_error_ns;        /* of a match */
    ix_completions completions;
} ix_analysis;

/* The calls are also added to `overview`, which may be NULL. 0, or -1 without memory. */
int ix_analyze(ix_analysis *analysis, const ix_view *view, ix_facts_of *facts, const void *context,
               ix_overview *overview);

/* Add what was measured without the log: the time of the calls of `rows` (the rank's own, as
 * ix_collect_rows gives them) that is in no record is `library` where the operation waits for
 * nobody, `file_io` where it is one for files, else `unattributed`. No row gains more than
 * `compute_ns`. 0, or -1 without memory. */
int ix_analysis_rest(ix_analysis *analysis, const ix_view *view, const ix_row *rows, size_t count,
                     int64_t compute_ns);

void ix_analysis_free(ix_analysis *analysis);

#endif
