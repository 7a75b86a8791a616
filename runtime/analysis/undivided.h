/* Calls in which a process has one message to move and nothing else: where the receiver copies, it
 * then copies that one until it is there. */
#ifndef IMBREX_ANALYSIS_UNDIVIDED_H
#define IMBREX_ANALYSIS_UNDIVIDED_H

#include "analysis/log_view.h"

/* Mark the messages beside which no other transfer of this process is open, sends aside that only
 * their receivers move: enum ix_undivided. 0, or -1 without memory. */
int ix_mark_undivided(ix_view *view);

#endif
