/* Calls that found nothing, one behind the other: a wait that the program makes of tests or probes,
 * at one site or at several in turn. They have no records; the call that ends those of its site
 * tells of them. */
#include "core/log_records.h"

/* Whether the call in progress follows on one that found nothing, or ended such calls. */
static int goes_on(const ix_thread *t)
{
    const ix_polls *p = &t->polls;
    int64_t gap_ns = t->compute_ns - p->compute_ns;
    return p->last + 1 == t->part->calls && p->paused_ns == t->paused_ns &&
           (gap_ns <= IX_LOG_POLL_GAP_NS || gap_ns <= t->call_ns - p->began_ns);
}

static int is_here(const ix_thread *t, const ix_polled_site *site)
{
    return site->address == t->address && site->key == t->key;
}

static void begin(ix_thread *t)
{
    ix_polls *p = &t->polls;
    p->began_ns = t->call_ns;
    p->paused_ns = t->paused_ns;
    p->site.key = 0;
    for (uint32_t i = 0; i < IX_POLLED_SITES; i++)
        p->further[i].key = 0;
}

/* From the thread's clock and number of calls to those of the site, and the other way. */
static ix_polled_site counted_from(const ix_thread *t, ix_polled_site site)
{
    site.call_ns = t->call_ns - site.call_ns;
    site.calls = t->part->calls - site.calls;
    return site;
}

/* Put the site of the last call by, and take the one of the call in progress, if it is known. */
static int change_site(ix_thread *t)
{
    ix_polls *p = &t->polls;
    ix_polled_site before = p->site, *room = NULL;
    p->site.key = 0;
    for (uint32_t i = 0; i < IX_POLLED_SITES; i++) {
        ix_polled_site *one = &p->further[i];
        if (one->key && is_here(t, one)) {
            p->site = counted_from(t, *one);
            one->key = 0;
        }
        room = room || one->key ? room : one;
    }
    if (before.key) {
        if (!room)
            room = &p->further[p->makes_room++ % IX_POLLED_SITES];
        *room = counted_from(t, before);
    }
    return p->site.key != 0;
}

static int has_further(const ix_polls *p)
{
    for (uint32_t i = 0; i < IX_POLLED_SITES; i++)
        if (p->further[i].key)
            return 1;
    return 0;
}

void ix_log_interrupted(ix_thread *t)
{
    ix_polls *p = &t->polls;
    if (!goes_on(t))
        begin(t);
    if ((p->site.key && is_here(t, &p->site)) || change_site(t))
        return;
    p->site = (ix_polled_site){t->address, t->key, t->last_ns, t->call_ns, t->part->calls};
}

void ix_log_tell_polls(ix_thread *t)
{
    ix_polls *p = &t->polls;
    if (!t->log.first || !goes_on(t) || !((p->site.key && is_here(t, &p->site)) || change_site(t)))
        return;
    const ix_polled_site told = counted_from(t, p->site);
    p->site.key = 0;
    if (has_further(p)) {
        p->last = t->part->calls;
        p->compute_ns = t->compute_ns;
    }
    ix_log_record *r = ix_log_reserve(t);
    if (r)
        ix_log_fill(t, r, told.call_ns, (uint64_t)(told.since_ns - ix_engine.start_ns),
                    ix_log_envelope(0, IX_LOG_POLLS, IX_PATH_NONE, 0),
                    told.calls < UINT32_MAX ? (uint32_t)told.calls : UINT32_MAX, IX_LOG_OPEN);
}
