/* What the user asked of the progress thread, in the environment. */
#ifndef IMBREX_PROGRESS_PROGRESS_OPTIONS_H
#define IMBREX_PROGRESS_PROGRESS_OPTIONS_H

#include <stdint.h>

#include "base/attributes.h"

#define IX_PROGRESS_SHARE 0.03 /* of a core, where nothing is said */

typedef struct ix_progress_options {
    int wanted;          /* IMBREX_PROGRESS: "on", or the interval in microseconds */
    int64_t interval_ns; /* 0: Imbrex chooses */
    double share;        /* IMBREX_PROGRESS_SHARE, in per cent there: 0 to 1 */
    char fault[160];     /* what is wrong with them, one line; empty: nothing. `wanted` is 0 then */
} ix_progress_options;

/* What is wanted where IMBREX_PROGRESS says nothing; no such object: nothing is. */
extern IX_HIDDEN const char ix_progress_unasked[] __attribute__((weak));

IX_HIDDEN ix_progress_options ix_progress_read_options(void);

#endif
