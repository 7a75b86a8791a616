/* What the machine profile says of a record's transfer. */
#ifndef IMBREX_ANALYSIS_FACTS_H
#define IMBREX_ANALYSIS_FACTS_H

#include "analysis/evidence.h"

/* `calibration`: the operation whose times hold for a collective or one-sided record (0: none
 * does); `ranks` those that the collective involves; `role`: enum ix_role. */
ix_transfer_facts ix_facts_from_profile(const ix_op *op, uint32_t calibration, int32_t ranks,
                                        uint8_t role);

#endif
