/* One transfer from its begin to its row. */
#include "internal.h"

int ix_begins(const ix_thread *t, const ix_transfer *transfer)
{
    return ix_outermost(t) && transfer->bytes > 0 && transfer->path != IX_PATH_NONE;
}

static int left_to_source(uint8_t path, uint8_t flags)
{
    return !(flags & IX_CALL_ONLY) && path <= IX_PATH_INTER && ix_engine.source_paths >> path & 1;
}

static __attribute__((noinline)) ix_time look_up_slow(ix_thread *t, const ix_open *open)
{
    if (open->flags & IX_COLLECTIVE)
        return ix_collective_time(open->x_operation, open->ranks, open->role, open->path,
                                  open->bytes);
    if (open->path == IX_PATH_ANY)
        return ix_any_path_time(open->bytes);
    ix_time time = ix_path_time(open->path, open->bytes);
    t->time_cache[ix_cache_slot((uint64_t)open->bytes, IX_TIME_CACHE)] =
        (ix_time_entry){open->bytes, open->path, ix_times_generation, time};
    return time;
}

static inline void look_up(ix_thread *t, ix_open *open)
{
    const ix_time_entry *cached =
        &t->time_cache[ix_cache_slot((uint64_t)open->bytes, IX_TIME_CACHE)];
    if (IX_LIKELY(cached->bytes == open->bytes && cached->path == open->path &&
                  cached->generation == ix_times_generation && !(open->flags & IX_COLLECTIVE)))
        open->time = cached->time;
    else
        open->time = look_up_slow(t, open);
}

/* Begin in the call in progress, at its CALL_ENTER. */
void ix_open_transfer(ix_thread *t, const ix_transfer *transfer, uint32_t operation, ix_open *open)
{
    if (t->site < 0)
        t->site = ix_site_of(t, t->address);
    open->compute0_ns = t->compute_ns;
    open->call0_ns = t->call_ns;
    open->paused0_ns = t->paused_ns;
    open->bytes = transfer->bytes;
    open->thread = t;
    open->site = t->site;
    open->operation = (uint16_t)t->operation;
    open->section = t->section;
    open->path = transfer->path;
    open->slack = transfer->slack;
    open->flags = transfer->flags;
    open->role = transfer->role;
    open->source = IX_SOURCE_CALL;
    open->unknown_end = open->unsized = 0;
    if (open->flags & IX_COLLECTIVE) {
        open->ranks = transfer->ranks;
        open->x_operation = transfer->operation ? transfer->operation : operation;
    }
    look_up(t, open);
    open->open_ns = open->time.calibrated ? open->time.most_ns : IX_UNBOUNDED_NS;
    open->silent = t->muted || left_to_source(open->path, open->flags);
    if (t->muted)
        ix_count(&ix_engine.part->rank.dropped);
    ix_add(&ix_share.begun_ns, (uint64_t)open->open_ns);
    t->begun_here_ns += (uint64_t)open->open_ns;
    t->touched = 1;
}

/* What the status of a completed receive says. */
void ix_received(ix_thread *t, ix_open *open, int64_t bytes, int path)
{
    int64_t posted_bytes = open->bytes;
    uint8_t posted_path = open->path;
    if (path != IX_AS_POSTED)
        open->path = (uint8_t)path;
    if (open->path == IX_PATH_NONE)
        bytes = 0;
    if (bytes != IX_AS_POSTED) {
        open->bytes = bytes;
        open->flags &= (uint8_t)~IX_UP_TO;
    }
    if (open->bytes > 0 && (open->bytes != posted_bytes || open->path != posted_path))
        look_up(t, open);
    open->silent |= (uint8_t)left_to_source(open->path, open->flags);
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
    if (open->slack == IX_SLACK_UNKNOWN)
        ns = IX_UNKNOWN;
    else if (open->slack == IX_SLACK_TAIL)
        ns = open->time.tail_ns;
    else if (open->slack == IX_SLACK_HEAD)
        ns = open->time.head_ns;
    return ns == IX_UNKNOWN ? open->time.x_hi_ns : ns;
}

static void raise_moving_until(int64_t until)
{
    int64_t known = atomic_load_explicit(&ix_share.moving_until_ns, memory_order_relaxed);
    while (until > known &&
           !atomic_compare_exchange_weak_explicit(&ix_share.moving_until_ns, &known, until,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* What later and earlier calls must know of a transfer that ended: theory.md, "Wait". */
static void leave_behind(ix_thread *t, const ix_open *open, int64_t slack, int64_t end_ns)
{
    if (open->slack == IX_SLACK_TAIL && open->time.tail_ns != IX_UNKNOWN) {
        if (slack > 0)
            raise_moving_until(end_ns + slack);
    } else if (open->time.calibrated) {
        t->outside_ns += ix_least(slack, open->time.x_hi_ns);
    }
    ix_add(&ix_share.closed_ns, (uint64_t)open->open_ns);
    t->touched = 1;
}

static void add_to_row(ix_thread *t, const ix_open *open, const ix_bounds *b)
{
    uint32_t path = open->path == IX_PATH_ANY ? IX_PATH_NONE : open->path;
    ix_row *row = ix_row_of(t, open->site, open->operation, open->section,
                            ix_size_class(open->bytes), path, open->source);
    row->transfers++;
    row->bytes += open->unsized ? 0 : open->bytes;
    row->transfer_min_ns += open->time.x_lo_ns;
    row->transfer_max_ns += open->time.x_hi_ns;
    row->overlap_min_ns += b->overlap_min_ns;
    row->overlap_max_ns += b->overlap_max_ns;
    row->exposed_min_ns += b->exposed_min_ns;
    row->exposed_max_ns += b->exposed_max_ns;
    row->undetermined += b->undetermined;
    row->contradicted += b->contradicted;
    row->uncalibrated += !open->time.calibrated;
    row->unknown_end += open->unknown_end;
}

void ix_close(ix_thread *t, ix_open *open, const ix_end *end)
{
    if (open->bytes <= 0) { /* a receive that got nothing */
        ix_add(&ix_share.closed_ns, (uint64_t)open->open_ns);
        t->touched = 1;
        return;
    }
    int64_t slack = slack_ns(open);
    leave_behind(t, open, slack, end->time_ns);
    if (open->silent)
        return;
    ix_bounds b;
    if (open->thread == t) {
        int64_t compute = end->compute_ns - open->compute0_ns;
        int64_t call = end->call_ns - open->call0_ns;
        b = ix_bound(open->time.x_lo_ns, open->time.x_hi_ns, compute, call,
                     slack + end->paused_ns - open->paused0_ns);
        /* what does not fit into the call time before this call moved in it */
        int64_t here = ix_least(call, end->in_call_ns);
        t->moving_min_ns = ix_most(t->moving_min_ns, b.exposed_min_ns - (call - here));
    } else { /* the clocks of the thread that began it are not ours to read */
        b = ix_bound(open->time.x_lo_ns, open->time.x_hi_ns, 0, 0, open->time.x_hi_ns);
    }
    add_to_row(t, open, &b);
}

/* The end will not be seen: freed, cancelled, no room. */
void ix_close_unknown(ix_thread *t, ix_open *open)
{
    open->slack = IX_SLACK_UNKNOWN;
    open->unknown_end = 1;
    if (open->unsized || open->flags & IX_UP_TO) {
        open->unsized = 1;
        open->time.x_lo_ns = 0;
        open->time.x_hi_ns = open->time.most_ns;
    }
    open->thread = NULL; /* no clock of the end is known */
    ix_close(t, open, &(ix_end){0});
}
