/* Calls that found nothing, one behind the other: a wait that the program makes of tests or probes.
 * They have no records; the call that ends them tells of all. */
#include "core/log_records.h"

/* Whether the call in progress goes on polling where the last one that found nothing did. */
static int goes_on(const ix_thread *t)
{
    const ix_polls *p = &t->polls;
    int64_t gap_ns = t->compute_ns - p->compute_ns;
    return p->last + 1 == t->part->calls && p->address == t->address && p->key == t->key &&
           (gap_ns <= IX_LOG_POLL_GAP_NS || gap_ns <= t->call_ns - p->call_ns);
}

void ix_log_interrupted(ix_thread *t)
{
    if (goes_on(t))
        return;
    ix_polls *p = &t->polls;
    p->address = t->address;
    p->key = t->key;
    p->since_ns = t->last_ns;
    p->call_ns = t->call_ns;
    p->first = t->part->calls;
    p->paused_ns = t->paused_ns;
}

void ix_log_tell_polls(ix_thread *t)
{
    const ix_polls *p = &t->polls;
    int told = t->log.last && goes_on(t) && p->paused_ns == t->paused_ns;
    ix_log_record *r = told ? ix_log_reserve(t) : NULL;
    if (!r)
        return;
    int64_t calls = t->part->calls - p->first;
    ix_log_fill(t, r, t->call_ns - p->call_ns, (uint64_t)(p->since_ns - ix_engine.start_ns),
                ix_log_envelope(0, IX_LOG_POLLS, IX_PATH_NONE, 0),
                calls < UINT32_MAX ? (uint32_t)calls : UINT32_MAX, IX_LOG_OPEN);
}
