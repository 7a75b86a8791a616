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

static void look_up(ix_open *open)
{
    if (open->flags & IX_COLLECTIVE)
        open->time =
            ix_collective_time(open->x_operation, open->ranks, open->role, open->path, open->bytes);
    else if (open->path == IX_PATH_ANY)
        open->time = ix_any_path_time(open->bytes);
    else
        open->time = ix_path_time(open->path, open->bytes);
}

/* Begin in the call in progress, at its CALL_ENTER. */
void ix_open_transfer(ix_thread *t, const ix_transfer *transfer, uint32_t operation, ix_open *open)
{
    if (t->site < 0)
        t->site = ix_site_lookup(t, t->address);
    *open = (ix_open){.compute0_ns = t->compute_ns,
                      .call0_ns = t->call_ns,
                      .paused0_ns = t->paused_ns,
                      .bytes = transfer->bytes,
                      .thread = t,
                      .site = t->site,
                      .ranks = transfer->ranks,
                      .x_operation = transfer->operation ? transfer->operation : operation,
                      .operation = (uint16_t)t->operation,
                      .section = t->section,
                      .path = transfer->path,
                      .slack = transfer->slack,
                      .flags = transfer->flags,
                      .role = transfer->role};
    look_up(open);
    open->open_ns = open->time.calibrated ? open->time.most_ns : IX_UNBOUNDED_NS;
    open->silent = t->muted || left_to_source(open->path, open->flags);
    if (t->muted)
        ix_count(&ix_engine.part->rank.dropped);
    ix_add(&ix_share.begun_ns, (uint64_t)open->open_ns);
    t->begun_here_ns += (uint64_t)open->open_ns;
    t->touched = 1;
}

/* What the status of a completed receive says. */
void ix_received(ix_open *open, int64_t bytes, int path)
{
    if (path != IX_AS_POSTED)
        open->path = (uint8_t)path;
    if (open->path == IX_PATH_NONE)
        bytes = 0;
    if (bytes != IX_AS_POSTED) {
        open->bytes = bytes;
        open->flags &= (uint8_t)~IX_UP_TO;
    }
    if (open->bytes > 0)
        look_up(open);
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
