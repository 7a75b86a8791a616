/* One transfer: its descriptor when it begins, and its end. */
#include "core/transfers.h"
#include "core/closing.h"

static int is_left_to_source(uint8_t path, uint8_t flags)
{
    return !(flags & IX_CALL_ONLY) && path <= IX_PATH_INTER && ix_engine.source_paths >> path & 1;
}

/* Whether a source inside the library shows it as well, so that it is counted there if dropped. */
static int is_posted_too(const ix_descriptor *d)
{
    int wildcard = d->path == IX_PATH_ANY && !(d->flags & IX_CALL_ONLY);
    return (wildcard && ix_engine.source_paths) || is_left_to_source(d->path, d->flags);
}

static void look_up_x(ix_descriptor *d)
{
    ix_time x;
    if (d->flags & IX_COLLECTIVE)
        x = ix_collective_time(d->x_operation, d->ranks, d->role, d->path, d->bytes);
    else if (d->path == IX_PATH_ANY)
        x = ix_any_path_time(d->bytes);
    else
        x = ix_path_time(d->path, d->bytes);
    d->x_lo_ns = x.x_lo_ns;
    d->x_hi_ns = x.x_hi_ns;
    d->tail_ns = x.tail_ns;
    d->head_ns = x.head_ns;
    d->most_ns = x.most_ns;
    d->calibrated = (uint8_t)x.calibrated;
}

/* Dropped while measuring is paused, or left to a source inside the library. */
static int is_uncounted(const ix_thread *t, const ix_descriptor *d, int posted)
{
    if (t->muted && (posted || !is_posted_too(d)))
        ix_count(&ix_engine.part->rank.dropped);
    return t->muted || (!posted && is_left_to_source(d->path, d->flags));
}

static void fill(ix_thread *t, int64_t bytes, ix_packed packed, ix_descriptor *d)
{
    uint32_t operation = packed >> IX_PACKED_OPERATION & 0xffff;
    int posted = packed >> IX_PACKED_POSTED & 1;
    *d = (ix_descriptor){.bytes = bytes,
                         .site = ix_depth(t) ? ix_call_site(t) : 0,
                         .operation = t->operation,
                         .section = t->section,
                         .path = packed & 15,
                         .slack = packed >> 4 & 3,
                         .flags = packed >> 6 & 15,
                         .role = packed >> 10 & 3,
                         .source = packed >> IX_PACKED_SOURCE & 3,
                         .ranks = (int32_t)(packed >> 32),
                         .x_operation = operation ? (uint16_t)(operation - 1) : t->operation};
    look_up_x(d);
    d->open_ns = d->calibrated ? d->most_ns : IX_UNBOUNDED_NS;
    if (is_uncounted(t, d, posted))
        d->flags |= IX_UNCOUNTED;
    if (ix_needs_progress(d))
        d->flags |= IX_NEEDS_PROGRESS;
}

/* The measured slack of a kind; IX_UNKNOWN where it was not measured. */
static int64_t measured_slack(const ix_descriptor *d)
{
    switch (d->slack) {
    case IX_SLACK_NONE:
        return 0;
    case IX_SLACK_TAIL:
        return d->tail_ns;
    case IX_SLACK_HEAD:
        return d->head_ns;
    default:
        return IX_UNKNOWN;
    }
}

/* What finds no room is not kept, so that it is counted each time; nor is what has no row yet,
 * because its end makes the row. */
static int is_worth_keeping(ix_thread *t, ix_descriptor *d)
{
    if (t->muted || d->path > IX_PATH_INTER || !(d->site || !t->address))
        return 0;
    if (d->flags & IX_UNCOUNTED)
        return 1;
    d->row = ix_row_known(t, d->site, d->operation, d->section, ix_size_class(d->bytes), d->path,
                          d->source);
    return d->row != NULL;
}

const ix_descriptor *ix_describe(ix_thread *t, int64_t bytes, ix_packed packed)
{
    if (!(packed >> IX_PACKED_POSTED & 1) &&
        (!ix_outermost(t) || bytes <= 0 || (packed & 15) == IX_PATH_NONE))
        return NULL;
    ix_plan *p = ix_depth(t) ? ix_plan_elsewhere(t, bytes, packed) : NULL;
    if (p)
        return &p->transfer;
    ix_descriptor *d = &t->described;
    fill(t, bytes, packed, d);
    if (!ix_depth(t) || !is_worth_keeping(t, d))
        return d;
    d->slack_ns = measured_slack(d);
    if (d->calibrated && d->slack_ns != IX_UNKNOWN)
        d->flags |= IX_RESOLVED;
    p = ix_plan_new(t, bytes, packed);
    if (!p)
        return d;
    p->row = d->row;
    p->transfer = *d;
    return &p->transfer;
}

void ix_received(ix_open *open, int64_t bytes, int path)
{
    ix_descriptor *d = &open->descriptor;
    int64_t posted_bytes = d->bytes;
    uint8_t posted_path = d->path;
    d->flags &= (uint8_t)~IX_RESOLVED;
    if (path != IX_AS_POSTED)
        d->path = (uint8_t)path;
    if (d->path == IX_PATH_NONE)
        bytes = 0;
    if (bytes != IX_AS_POSTED) {
        d->bytes = bytes;
        d->flags &= (uint8_t)~IX_UP_TO;
    }
    if (d->bytes != posted_bytes || d->path != posted_path) {
        d->row = NULL;
        if (d->bytes > 0)
            look_up_x(d);
    }
    if (is_left_to_source(d->path, d->flags))
        d->flags |= IX_UNCOUNTED;
}

void ix_widen_slack(ix_descriptor *d, uint8_t slack)
{
    if (slack == d->slack || slack == IX_SLACK_NONE)
        return;
    d->slack = d->slack == IX_SLACK_NONE ? slack : IX_SLACK_UNKNOWN;
    d->flags &= (uint8_t)~IX_RESOLVED;
}

static IX_APART ix_row *row_of(ix_thread *t, const ix_descriptor *d)
{
    uint32_t path = d->path == IX_PATH_ANY ? IX_PATH_NONE : d->path;
    return ix_row_of(t, d->site, d->operation, d->section, ix_size_class(d->bytes), path,
                     d->source);
}

/* The end of one whose bounds or row are to be looked up first. */
static void close_unresolved(ix_thread *t, ix_settlement *ended, const ix_open *open,
                             const ix_end *end)
{
    const ix_descriptor *d = &open->descriptor;
    int64_t slack_ns = measured_slack(d);
    if (slack_ns == IX_UNKNOWN)
        slack_ns = d->x_hi_ns;
    ix_note_outside(ended, d, 0, slack_ns);
    if (d->flags & IX_UNCOUNTED)
        return;
    ix_bounds b;
    if (open->thread == t) {
        ix_clocks since = ix_clocks_since(&open->begin, end->clocks);
        b = ix_bound_here(ended, d, since.compute_ns, since.call_ns, slack_ns + since.paused_ns,
                          end->in_call_ns);
    } else { /* the clocks of the thread that began it are not ours to read */
        b = ix_bound(d->x_lo_ns, d->x_hi_ns, 0, 0, d->x_hi_ns);
    }
    ix_row *row = open->thread == t && d->row ? d->row : row_of(t, d);
    ix_add_to_row(row, d, d->flags & IX_UNSIZED ? 0 : d->bytes, &b);
    row->uncalibrated += !d->calibrated;
    row->unknown_end += (d->flags & IX_UNKNOWN_END) != 0;
}

void ix_close(ix_thread *t, ix_open *open, const ix_end *end)
{
    ix_descriptor *d = &open->descriptor;
    ix_settlement ended = {0};
    ix_clocks since = ix_clocks_since(&open->begin, end->clocks);
    if (d->flags & IX_RESOLVED && open->thread == t)
        ix_close_resolved(&ended, d, since.compute_ns, since.call_ns, since.paused_ns,
                          end->in_call_ns);
    else if (d->bytes > 0)
        close_unresolved(t, &ended, open, end);
    else { /* a receive that got nothing */
        ended.open_ns = (uint64_t)d->open_ns;
        if (d->flags & IX_NEEDS_PROGRESS)
            ix_count_needing(d, -1);
    }
    ix_settle_with_engine(&ended, end->time_ns, ix_share.concurrent);
    t->outside_ns += ended.outside_ns;
    t->moving_min_ns = ix_most(t->moving_min_ns, ended.moving_min_ns);
    ix_to_settle(t);
}

void ix_close_unknown(ix_thread *t, ix_open *open)
{
    ix_descriptor *d = &open->descriptor;
    d->slack = IX_SLACK_UNKNOWN;
    d->flags = (uint8_t)((d->flags & ~IX_RESOLVED) | IX_UNKNOWN_END);
    if (d->flags & (IX_UNSIZED | IX_UP_TO)) {
        d->flags |= IX_UNSIZED;
        d->x_lo_ns = 0;
        d->x_hi_ns = d->most_ns;
    }
    __atomic_store_n(&open->thread, NULL, __ATOMIC_RELAXED); /* no clock of the end is known */
    ix_close(t, open, &(ix_end){0});
}
