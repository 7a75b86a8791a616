/* The call log as a file of the run directory, for who wants to read single calls. */
#ifndef IMBREX_JOB_KEPT_LOG_H
#define IMBREX_JOB_KEPT_LOG_H

#include <stdint.h>

#include "base/attributes.h"

/* The numbers that sites and sections have in the run directory, by those of this rank. */
typedef struct ix_log_names {
    const int32_t *site, *section;
    uint64_t sites, sections;
} ix_log_names;

/* Where IMBREX_KEEP_LOG says so, write DIRECTORY/log/rank-N.log: as in the part, with the common
 * numbers, and without what no longer counts. It is 1, or how many bytes the logs of all ranks may
 * have together: a larger one, or one that covers a part of the run, is not kept then. After
 * ix_clocks_end. A failure is a warning where the log was asked for. */
IX_HIDDEN void ix_keep_log(const char *directory, int rank, int ranks, const ix_log_names *names);

#endif
