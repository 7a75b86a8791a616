/* CALL_ENTER where ix_enter_from has to look closer. */
#include "core/plans.h"

void ix_enter_slow(ix_thread *t, int64_t now)
{
    ix_sites_forget(t);
    t->compute_ns += ix_unpaused(t, now);
    t->unrecorded = t->muted;
}

ix_thread *ix_enter_by_state(uint32_t operation, const void *site, const char *frame)
{
    ix_thread *t = ix_self;
    if (!t && !(t = ix_attach()))
        return t;
    uint32_t state = t->state++;
    if (state & IX_DEPTH && !(frame && ix_was_abandoned(t, frame)))
        return t;
    ix_enter_outermost(t, operation, site, frame, 0);
    return t;
}

void ix_enter_site(ix_thread *t)
{
    if (ix_outermost(t))
        ix_call_site(t);
}
