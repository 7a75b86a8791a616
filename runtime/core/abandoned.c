/* Calls that were left without returning: by longjmp, or an exception, out of an error handler. */
#include <pthread.h>
#include <string.h>

#include "core/internal.h"

/* A callback may run on another stack, of which the frame says nothing, and one that is gone cannot
 * be read. */
int ix_is_on_own_stack(ix_thread *t, const char *frame)
{
    if (!t->stack_high) {
        pthread_attr_t attributes;
        void *low;
        size_t size;
        t->stack_low = t->stack_high = (const char *)1;
        if (!pthread_getattr_np(pthread_self(), &attributes)) {
            if (!pthread_attr_getstack(&attributes, &low, &size)) {
                t->stack_low = low;
                t->stack_high = t->stack_low + size;
            }
            pthread_attr_destroy(&attributes);
        }
    }
    return frame > t->stack_low && frame <= t->stack_high;
}

/* What is called from above a frame is not called from within it. On x86-64 a call's return address
 * lies just below the end of its frame, and of one that was abandoned it is most often overwritten
 * by what was called since. */
static int is_under_way(ix_thread *t, const char *inner)
{
    const char *frame = inner + (int32_t)(t->frame - (uint32_t)(uintptr_t)inner);
    if (!t->frame || !ix_is_on_own_stack(t, frame) || !ix_is_on_own_stack(t, inner))
        return 1;
    if (inner >= frame)
        return 0;
#ifdef __x86_64__
    const void *returns;
    memcpy(&returns, frame - sizeof returns, sizeof returns);
    return returns == t->address;
#else
    return 1;
#endif
}

int ix_was_abandoned(ix_thread *t, const char *frame)
{
    if (is_under_way(t, frame))
        return 0;
    /* When it was left is not known: the time since it was entered is neither compute nor call
     * time. */
    t->paused_ns += ix_unpaused(t, ix_now());
    t->state = (t->state & ~IX_DEPTH) | 1;
    ix_leave(t);
    t->state |= 1;
    return 1;
}
