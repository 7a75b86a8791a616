/* Receives that were open when the log ends. One that was posted with a wildcard may have got a
 * message of which no record tells: then what was posted after it got the next one of its stream.
 */
#ifndef IMBREX_ANALYSIS_OPEN_RECEIVES_H
#define IMBREX_ANALYSIS_OPEN_RECEIVES_H

#include "analysis/log_view.h"

/* Those of the records `messages` that are receives and may be behind such a one, or that ended
 * after view->receiving_since_ns, become IX_AMBIGUOUS. */
void ix_mark_behind_open(ix_view *view, const uint32_t *messages, uint32_t count);

#endif
