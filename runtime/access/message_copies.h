/* Messages that are packed before they are sent, or unpacked after they arrive: what is asked of an
 * element is then asked of its copy. */
#ifndef IMBREX_ACCESS_MESSAGE_COPIES_H
#define IMBREX_ACCESS_MESSAGE_COPIES_H

#include "access/messages.h"

/* Add one iteration to an element's sums. */
static inline void ixa_add(ixa_element_t *e, uint64_t accesses, double ns)
{
    e->accesses += (double)accesses;
    e->ns += ns;
    e->ns_squared += ns * ns;
    e->count++;
}

/* Elements that were unpacked are consumed where they went; times count from the reference. */
IX_HIDDEN void ixa_take_over_unpacked(ixa_message_t *m, uintptr_t buffer, uint64_t reference,
                                      double reference_ns);
/* Elements that were packed are produced where they came from; that memory is watched from the
 * first such send on. */
IX_HIDDEN void ixa_send_packed(ixa_message_t *m, uintptr_t buffer);

#endif
