/* What the machine profile says of a record's transfer. */
#ifndef IMBREX_ANALYSIS_FACTS_H
#define IMBREX_ANALYSIS_FACTS_H

#include "analysis/evidence.h"

/* `calibration`: the operation whose times hold for a collective or one-sided record (0: none
 * does); `ranks` those that the collective involves; `role`: enum ix_role. */
ix_transfer_facts ix_facts_from_profile(const ix_op *op, uint32_t calibration, int32_t ranks,
                                        uint8_t role);

/* Between groups a collective is calibrated by none, and a rank exchanges nothing with its own
 * group: what the calibration has of as many ranks is no bound of how long it takes. */
static inline void ix_facts_between_groups(ix_transfer_facts *facts)
{
    facts->time.calibrated = 0;
    facts->partners = 0;
}

#endif
