#include "access/message_copies.h"

#include "access/timeline.h"

#include <stdlib.h>

/* Whether all elements of one call are copies. Equal values throughout prove nothing, nor does a
 * buffer that nobody looked at when it was packed: one of several in turn, or of malloc's. */
enum copied { DIRECT, COPIED, OPEN };
typedef int ixa_look_t(uintptr_t address, size_t size, ixa_copy_t *copy);

static enum copied all_copied(const ixa_message_t *m, uintptr_t buffer, ixa_look_t *look)
{
    ixa_copy_t first = {0, 0, 0}, copy;
    int differ = 0;
    for (size_t k = 0; k < m->elements; k++) {
        uintptr_t at = buffer + (uintptr_t)m->offset[k];
        if (!look(at, m->element_bytes, &copy))
            return ixa_memory->last_write(at, m->element_bytes) ? DIRECT : OPEN;
        if (k == 0)
            first = copy;
        differ |= copy.value != first.value;
    }
    return differ ? COPIED : OPEN;
}

static int count_copied(ixa_message_t *m, enum copied copied)
{
    if (copied == DIRECT)
        m->direct_calls++;
    if (copied != COPIED)
        return 0;
    if (!m->copied)
        m->copied = calloc(m->elements, sizeof *m->copied);
    m->copied_calls += m->copied != NULL;
    return m->copied != NULL;
}

void ixa_take_over_unpacked(ixa_message_t *m, uintptr_t buffer, uint64_t reference,
                            double reference_ns)
{
    if (!count_copied(m, all_copied(m, buffer, ixa_memory->went_to)))
        return;
    for (size_t k = 0; k < m->elements; k++) {
        ixa_copy_t copy;
        uint64_t position;
        double ns;
        if (!ixa_memory->went_to(buffer + (uintptr_t)m->offset[k], m->element_bytes, &copy))
            continue;
        if (copy.stamp == IXA_OVERWRITTEN)
            m->copied[k].other++;
        else if (copy.stamp != IXA_UNREAD && ixa_time_of(copy.stamp, &position, &ns))
            ixa_add(&m->copied[k], position - reference, ns - reference_ns);
    }
}

void ixa_send_packed(ixa_message_t *m, uintptr_t buffer)
{
    /* Before the first send nobody looked. */
    if (m->calls == 1 || !count_copied(m, all_copied(m, buffer, ixa_memory->came_from)))
        return;
    for (size_t k = 0; k < m->elements; k++) {
        ixa_copy_t copy;
        uint64_t position;
        double ns;
        if (!ixa_memory->came_from(buffer + (uintptr_t)m->offset[k], m->element_bytes, &copy))
            continue;
        if (copy.stamp && ixa_time_of(copy.stamp, &position, &ns) && position > m->previous)
            ixa_add(&m->copied[k], ixa_timeline->position - position, ixa_timeline->now_ns - ns);
        else if (copy.stamp)
            m->copied[k].other++;
        if (ixa_memory->follow(copy.origin, m->element_bytes))
            ixa_dropped++;
    }
}
