/* One transfer from its begin to its row. */
#include "close.h"
#include "internal.h"

static int left_to_source(uint8_t path, uint8_t flags)
{
    return !(flags & IX_CALL_ONLY) && path <= IX_PATH_INTER && ix_engine.source_paths >> path & 1;
}

/* Whether a source inside the library shows it as well, so that it is counted there if dropped. */
static int is_posted_too(const ix_open *open)
{
    int wildcard = open->what.path == IX_PATH_ANY && !(open->what.flags & IX_CALL_ONLY);
    return (wildcard && ix_engine.source_paths) ||
           left_to_source(open->what.path, open->what.flags);
}

static IX_COLD ix_time look_up_slow(ix_thread *t, const ix_open *open)
{
    if (open->what.flags & IX_COLLECTIVE)
        return ix_collective_time(open->what.x_operation, open->what.ranks, open->what.role,
                                  open->what.path, open->what.bytes);
    if (open->what.path == IX_PATH_ANY)
        return ix_any_path_time(open->what.bytes);
    ix_time time = ix_path_time(open->what.path, open->what.bytes);
    t->time_cache[ix_cache_slot((uint64_t)open->what.bytes, IX_TIME_CACHE)] =
        (ix_time_entry){open->what.bytes, open->what.path, ix_times_generation, time};
    return time;
}

static inline void look_up(ix_thread *t, ix_open *open)
{
    const ix_time_entry *cached =
        &t->time_cache[ix_cache_slot((uint64_t)open->what.bytes, IX_TIME_CACHE)];
    if (IX_LIKELY(cached->bytes == open->what.bytes && cached->path == open->what.path &&
                  cached->generation == ix_times_generation && !(open->what.flags & IX_COLLECTIVE)))
        open->what.time = cached->time;
    else
        open->what.time = look_up_slow(t, open);
}

void ix_open_anew(ix_thread *t, const ix_transfer *transfer, uint32_t operation, ix_open *open)
{
    if (t->site < 0)
        t->site = ix_site_of(t, t->address);
    open->compute0_ns = t->compute_ns;
    open->call0_ns = t->call_ns;
    open->paused0_ns = t->paused_ns;
    open->what.bytes = transfer->bytes;
    __atomic_store_n(&open->thread, t, __ATOMIC_RELAXED);
    open->what.row = NULL;
    open->what.site = t->site;
    open->what.operation = (uint16_t)t->operation;
    open->what.section = t->section;
    open->what.path = transfer->path;
    open->what.slack = transfer->slack;
    open->what.flags = transfer->flags;
    open->what.role = transfer->role;
    open->what.source = IX_SOURCE_CALL;
    open->what.unknown_end = open->what.unsized = open->what.usual = 0;
    if (open->what.flags & IX_COLLECTIVE) {
        open->what.ranks = transfer->ranks;
        open->what.x_operation = (uint16_t)(transfer->operation ? transfer->operation : operation);
    }
    look_up(t, open);
    open->what.open_ns = open->what.time.calibrated ? open->what.time.most_ns : IX_UNBOUNDED_NS;
    open->what.silent = t->muted || left_to_source(open->what.path, open->what.flags);
    ix_count_begin(t, (uint64_t)open->what.open_ns);
}

void ix_begin_anew(ix_thread *t, const ix_transfer *transfer, uint32_t operation, ix_open *open)
{
    ix_open_anew(t, transfer, operation, open);
    if (t->muted && !is_posted_too(open))
        ix_count(&ix_engine.part->rank.dropped);
}

/* What finds no room is not kept: that is counted each time. */
static int worth_keeping(const ix_thread *t, const ix_open *open)
{
    return !t->muted && !(open->what.flags & IX_COLLECTIVE) && open->what.path <= IX_PATH_INTER &&
           (open->what.site || !t->address);
}

/* Whether ix_close_usual may end what has a row or is left to another source, so is no collective.
 */
static int is_usual(const ix_what *what)
{
    if (!what->time.calibrated || what->slack == IX_SLACK_UNKNOWN)
        return 0;
    return !(what->slack == IX_SLACK_TAIL && what->time.tail_ns == IX_UNKNOWN) &&
           !(what->slack == IX_SLACK_HEAD && what->time.head_ns == IX_UNKNOWN);
}

static int is_at_once(const ix_thread *t, const ix_begin_entry *entry)
{
    for (uint32_t i = 0; i < t->at_once_count; i++)
        if (t->at_once[i] == &entry->what)
            return 1;
    return 0;
}

void ix_keep(ix_thread *t, ix_open *open, ix_begin_entry *entry, uint64_t word)
{
    if (!worth_keeping(t, open) || is_at_once(t, entry))
        return;
    if (!open->what.silent) {
        open->what.row =
            ix_row_known(t, open->what.site, open->what.operation, open->what.section,
                         ix_size_class(open->what.bytes), open->what.path, open->what.source);
        if (!open->what.row)
            return;
    }
    open->what.usual = (uint8_t)is_usual(&open->what);
    entry->what = open->what;
    entry->address = (uint64_t)(uintptr_t)t->address;
    entry->word = word;
    entry->where = ix_where(t);
    entry->generation = ix_times_generation;
    *ix_hint_of(t) = (ix_hint){entry, open->what.row};
}

/* The transfers that were to begin and end with this call, as any other: before the thread's clocks
 * change otherwise than by the call's time. */
void ix_spread_at_once(ix_thread *t)
{
    for (uint32_t i = 0; i < t->at_once_count; i++)
        t->blocking[t->blocking_count++] = (ix_open){.compute0_ns = t->compute_ns,
                                                     .call0_ns = t->call_ns,
                                                     .paused0_ns = t->paused_ns,
                                                     .thread = t,
                                                     .what = *t->at_once[i]};
    t->at_once_count = 0;
}

/* What the status of a completed receive says. */
void ix_received(ix_thread *t, ix_open *open, int64_t bytes, int path)
{
    int64_t posted_bytes = open->what.bytes;
    uint8_t posted_path = open->what.path;
    open->what.usual = 0;
    if (path != IX_AS_POSTED)
        open->what.path = (uint8_t)path;
    if (open->what.path == IX_PATH_NONE)
        bytes = 0;
    if (bytes != IX_AS_POSTED) {
        open->what.bytes = bytes;
        open->what.flags &= (uint8_t)~IX_UP_TO;
    }
    if (open->what.bytes != posted_bytes || open->what.path != posted_path) {
        open->what.row = NULL;
        if (open->what.bytes > 0)
            look_up(t, open);
    }
    open->what.silent |= (uint8_t)left_to_source(open->what.path, open->what.flags);
}

uint8_t ix_larger_slack(uint8_t a, uint8_t b)
{
    if (a == b || b == IX_SLACK_NONE)
        return a;
    return a == IX_SLACK_NONE ? b : IX_SLACK_UNKNOWN;
}

/* How long data may move outside the begin and the end that are known. */
static int64_t slack_ns(const ix_open *open)
{
    int64_t ns = 0;
    if (open->what.slack == IX_SLACK_UNKNOWN)
        ns = IX_UNKNOWN;
    else if (open->what.slack == IX_SLACK_TAIL)
        ns = open->what.time.tail_ns;
    else if (open->what.slack == IX_SLACK_HEAD)
        ns = open->what.time.head_ns;
    return ns == IX_UNKNOWN ? open->what.time.x_hi_ns : ns;
}

static __attribute__((noinline)) ix_row *row_of(ix_thread *t, const ix_open *open)
{
    uint32_t path = open->what.path == IX_PATH_ANY ? IX_PATH_NONE : open->what.path;
    return ix_row_of(t, open->what.site, open->what.operation, open->what.section,
                     ix_size_class(open->what.bytes), path, open->what.source);
}

void ix_close(ix_thread *t, ix_open *open, const ix_end *end)
{
    ix_what *what = &open->what;
    int64_t compute = end->compute_ns - open->compute0_ns;
    int64_t call = end->call_ns - open->call0_ns;
    int64_t paused = end->paused_ns - open->paused0_ns;
    if (what->usual && open->thread == t) {
        ix_close_usual(t, what, compute, call, paused, end->in_call_ns, end->time_ns);
        return;
    }
    if (what->bytes <= 0) { /* a receive that got nothing */
        ix_add(&ix_share.closed_ns, (uint64_t)what->open_ns);
        t->touched |= IX_ENDED;
        return;
    }
    int64_t slack = slack_ns(open);
    ix_leave_behind(t, what, 0, slack, end->time_ns);
    if (what->silent)
        return;
    ix_bounds b;
    if (open->thread == t)
        b = ix_bound_here(t, &what->time, compute, call, slack + paused, end->in_call_ns);
    else /* the clocks of the thread that began it are not ours to read */
        b = ix_bound(what->time.x_lo_ns, what->time.x_hi_ns, 0, 0, what->time.x_hi_ns);
    ix_row *row = open->thread == t && what->row ? what->row : row_of(t, open);
    ix_add_to_row(row, what, what->unsized ? 0 : what->bytes, &b);
    row->uncalibrated += !what->time.calibrated;
    row->unknown_end += what->unknown_end;
}

/* The end will not be seen: freed, cancelled, no room. */
void ix_close_unknown(ix_thread *t, ix_open *open)
{
    open->what.slack = IX_SLACK_UNKNOWN;
    open->what.usual = 0;
    open->what.unknown_end = 1;
    if (open->what.unsized || open->what.flags & IX_UP_TO) {
        open->what.unsized = 1;
        open->what.time.x_lo_ns = 0;
        open->what.time.x_hi_ns = open->what.time.most_ns;
    }
    __atomic_store_n(&open->thread, NULL, __ATOMIC_RELAXED); /* no clock of the end is known */
    ix_close(t, open, &(ix_end){0});
}
