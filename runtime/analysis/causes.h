/* Why one call took its time: docs/theory/measuring.md, "Causes". The parts add up to the call's
 * length, and that of the calls before it which polled for the same and found nothing; each is an
 * interval, because clocks differ and because not everything is known of a library. */
#ifndef IMBREX_ANALYSIS_CAUSES_H
#define IMBREX_ANALYSIS_CAUSES_H

#include "analysis/evidence.h"

enum ix_cause {
    IX_LATE_SENDER,
    IX_LATE_RECEIVER,
    IX_LATE_COLLECTIVE,
    IX_TRANSFER,
    IX_STALLED,
    IX_LIBRARY,
    IX_FILE_IO,
    IX_UNATTRIBUTED,
    IX_CAUSES
};

typedef struct ix_interval {
    int64_t min_ns, max_ns;
} ix_interval;

typedef struct ix_call_causes {
    ix_interval part[IX_CAUSES];
    ix_interval gainable;     /* transfer and stalled together */
    ix_interval lost_overlap; /* of it, what progress during the computation would have saved */
    ix_interval undriven;     /* of transfer and stalled, while the partner computed */
    ix_interval late;         /* the three late ones together */
    int64_t polled_ns;        /* of the call's time: in calls before it that found nothing */
    uint32_t latest; /* the record of the transfer whose partner came last; IX_NO_END: nobody was
                      * late */
} ix_call_causes;

/* What the causes need of each transfer that a call completes. */
typedef struct ix_completed {
    uint32_t op; /* the record that began it */
    ix_transfer_facts facts;
} ix_completed;

/* Of the call whose first record is `call`, and that saw `count` transfers complete. */
ix_call_causes ix_causes_of(const ix_view *view, uint32_t call, const ix_completed *completed,
                            uint32_t count);

#endif
