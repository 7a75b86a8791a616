/* How far the recorded run has come, for whoever waits for it, and where recording ends if only the
 * first part of the run is recorded. */
#ifndef IMBREX_ACCESS_SAMPLE_H
#define IMBREX_ACCESS_SAMPLE_H

#include <stdint.h>
#include <stdio.h>

#include "core/thread.h"

/* `times`: what the timed run left, an entry of `entry_bytes` for each interval. The share of them
 * that is recorded is IMBREX_ACCESS_SAMPLE in the environment, all without it. */
IX_HIDDEN void ixa_sample_start(FILE *times, size_t entry_bytes);
/* So many intervals have ended: whether recording ends with them. */
IX_HIDDEN int ixa_sample_ends(uint64_t intervals);
/* Whether it has ended before the program. */
IX_HIDDEN int ixa_sample_has_ended(void);
/* The results of this rank are written: the job may be ended. */
IX_HIDDEN void ixa_sample_written(void);

#endif
