/* The clean run: one element of one message at a time is watched, by turns. */
#ifndef IMBREX_ACCESS_ANCHORS_H
#define IMBREX_ACCESS_ANCHORS_H

#include "access/messages.h"

/* Around every event of a message, a send or an arrival: is the watchpoint's task done, or
 * hopeless; is it this message's turn? */
IX_HIDDEN void ixa_anchors_before(const ixa_message_t *message, uintptr_t buffer);
IX_HIDDEN void ixa_anchors_after(ixa_message_t *message, uintptr_t buffer);
IX_HIDDEN void ixa_anchors_finish(void);

#endif
