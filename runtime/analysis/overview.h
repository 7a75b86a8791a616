/* The whole run in few equal stretches of time, and what a rank did in each (overview.npy): a time
 * line that is zoomed out shows it where single calls would be too many. */
#ifndef IMBREX_ANALYSIS_OVERVIEW_H
#define IMBREX_ANALYSIS_OVERVIEW_H

#include "analysis/rows.h"
#include "core/call_log.h"

typedef struct ix_overview {
    int64_t length_ns; /* of a stretch; the first begins at 0 of the rank's records */
    uint32_t count;
    ix_overview_row *rows; /* NULL without memory: then nothing is added up */
} ix_overview;

/* Of a rank that was measured for `end_ns`, in at most `most` stretches. */
void ix_overview_start(ix_overview *o, int32_t rank, int64_t end_ns, uint32_t most);

/* A call and the causes of its time. They lie behind one another as docs/theory/measuring.md shares
 * them out: who was late first, then what moved. Only what is certain of a cause is added. Of one
 * that polled `call_ns` of the time are in its calls: evenly, as others may stand between them. */
void ix_overview_add(ix_overview *o, int64_t enter_ns, int64_t exit_ns, int64_t call_ns,
                     const ix_interval part[IX_CAUSES]);

/* The log has the windows of `level` alone; 0: all of the time is logged. */
void ix_overview_logged(ix_overview *o, const ix_log_header *log, uint32_t level);

void ix_overview_free(ix_overview *o);

#endif
