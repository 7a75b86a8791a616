/* Whom a transfer makes its completing call wait for, and until when. */
#ifndef IMBREX_ANALYSIS_NEED_H
#define IMBREX_ANALYSIS_NEED_H

#include "analysis/causes.h"

/* Moments; IX_LONG_AGO: not at all. */
typedef struct ix_need {
    enum ix_cause cause;
    int64_t certain, possible; /* it cannot return before; it may not have returned before */
    enum { IX_UNMATCHED, IX_NEEDS_NOTHING, IX_MAY_NEED, IX_NEEDS } how;
} ix_need;

#define IX_LONG_AGO (INT64_MIN / 4)

/* Of a transfer that was complete when `call` returned. */
ix_need ix_need_of(const ix_view *view, const ix_completed *c, const ix_op *call);

/* group_epoch.c: of the record of an epoch towards a member of a group, which is matched. */
ix_need ix_need_of_group_epoch(const ix_view *view, uint32_t i, int64_t exit_ns);

/* Of what only the other side's start can end. */
static inline ix_need ix_need_of_receive(const ix_match *m)
{
    int64_t s = m->other.start_enter;
    return (ix_need){IX_LATE_SENDER, s - m->error_ns, s + m->error_ns, IX_NEEDS};
}

#endif
