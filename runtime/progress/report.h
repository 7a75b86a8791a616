/* What the progress thread did, for job.json. */
#ifndef IMBREX_PROGRESS_REPORT_H
#define IMBREX_PROGRESS_REPORT_H

#include <stdint.h>

#include "base/attributes.h"
#include "progress/helper.h"

enum { IX_PROGRESS_SITES = 8 };

/* Of one rank, or summed over ranks. Times are processor times. */
typedef struct ix_progress_report {
    int64_t ranks; /* with a progress thread */
    int64_t looks, moving_looks;
    int64_t looking_ns, moving_ns; /* as in ix_helper_counts */
    int64_t waits, rests;
    int64_t interval_ns; /* the first one of the rank; of several ranks the longest */
    double share;
    struct {
        int64_t site, looks, completed, moving_ns; /* site 0: no more */
    } sites[IX_PROGRESS_SITES];                    /* those that had most of the time */
} ix_progress_report;

/* This rank's, with its own numbers of sites; ranks 0: there was no such thread. After it ended. */
extern IX_HIDDEN ix_progress_report ix_progress_reported;

IX_HIDDEN void ix_progress_note(const ix_helper_counts *counts, int64_t interval_ns, double share);

/* Add another rank's, with the same numbers of sites. */
IX_HIDDEN void ix_progress_add(ix_progress_report *sum, const ix_progress_report *one);

#endif
