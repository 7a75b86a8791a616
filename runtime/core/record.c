/* CALL_EXIT: what a call adds to the rows. The rules of the wait time: docs/theory.md, "Wait". */
#include "internal.h"

void ix_blocking(ix_thread *t, const ix_transfer *transfer)
{
    if (!ix_begins(t, transfer))
        return;
    ix_open extra;
    int room = t->blocking_count < IX_BLOCKING_MAX;
    ix_open *open = room ? &t->blocking[t->blocking_count++] : &extra;
    ix_open_transfer(t, transfer, t->operation, open);
    ix_note_begin(t, open);
    if (!room)
        ix_close_unknown(t, open);
}

static void close_transfers(ix_thread *t, int64_t dt, int64_t now)
{
    ix_end end = {t->compute_ns, t->call_ns, t->paused_ns, dt, now};
    for (uint32_t i = 0; i < t->blocking_count; i++) {
        ix_open *open = &t->blocking[i];
        if (open->what.flags & IX_UP_TO)
            ix_close_unknown(t, open);
        else
            ix_close(t, open, &end);
    }
    if (t->finished)
        ix_requests_close_finished(t, &end);
}

/* How long in this call, at most, data may have moved: of transfers open at any time in it and of
 * sends that had completed before. */
static uint64_t may_have_moved(const ix_thread *t, int64_t entered, int64_t now)
{
    uint64_t open =
        atomic_load_explicit(&ix_share.begun_ns, memory_order_acquire) - t->closed_at_enter;
    int64_t tail = ix_least(now, t->moving_until_ns) - entered;
    return open + (uint64_t)ix_most(0, tail);
}

static void owe(ix_thread *t, uint64_t debt_ns, uint64_t own_share_ns)
{
    if (debt_ns) {
        ix_add(&ix_share.debt_ns, debt_ns);
        t->debt_paid_ns += debt_ns - own_share_ns;
    }
}

static void incur_debt(ix_thread *t, int64_t dt, uint64_t moved)
{
    uint64_t outside = (uint64_t)t->outside_ns;
    uint64_t uncovered = moved > (uint64_t)dt ? moved - (uint64_t)dt : 0;
    if (IX_UNLIKELY(outside))
        owe(t, outside, outside < uncovered ? outside : uncovered);
    if (ix_engine.concurrent) /* calls of other threads that ended meanwhile did not know of them */
        owe(t, t->begun_here_ns < (uint64_t)dt ? t->begun_here_ns : (uint64_t)dt, 0);
}

static int64_t pay_debt(ix_thread *t, int64_t wait)
{
    uint64_t owed = atomic_load_explicit(&ix_share.debt_ns, memory_order_relaxed) - t->debt_paid_ns;
    if (IX_LIKELY(!owed) || wait <= 0)
        return wait;
    uint64_t paid = owed < (uint64_t)wait ? owed : (uint64_t)wait;
    t->debt_paid_ns += paid;
    return wait - (int64_t)paid;
}

static void reset(ix_thread *t)
{
    t->touched = 0;
    t->has_row = 0;
    t->blocking_count = 0;
    t->finished = 0;
    t->begun_here_ns = 0;
    t->moving_min_ns = 0;
    t->outside_ns = 0;
}

static __attribute__((noinline)) ix_row *find_row_of_call(ix_thread *t, int size_class,
                                                          uint32_t path, ix_call_entry *entry)
{
    if (t->site < 0)
        t->site = ix_site_of(t, t->address);
    ix_row *row = ix_row_of(t, t->site, t->operation, t->section, size_class, path, IX_SOURCE_CALL);
    if ((t->site || !t->address) && row != t->rows) /* what finds no room is counted each time */
        *entry = (ix_call_entry){(uint64_t)(uintptr_t)t->address,
                                 ix_key_word(t->operation, t->section, size_class, path), row};
    return row;
}

static inline ix_row *row_of_call(ix_thread *t, int size_class, uint32_t path)
{
    uint64_t address = (uint64_t)(uintptr_t)t->address;
    uint64_t word = ix_key_word(t->operation, t->section, size_class, path);
    ix_call_entry *e = &t->call_cache[ix_cache_slot(address + (word >> 32), IX_CALL_CACHE)];
    if (IX_LIKELY(e->address == address && e->word == word))
        return e->row;
    return find_row_of_call(t, size_class, path, e);
}

static inline __attribute__((always_inline)) void record(ix_thread *t, int64_t dt, int64_t entered,
                                                         int64_t now, int touched)
{
    uint64_t moved = may_have_moved(t, entered, now);
    int exposed =
        t->exposed_at_enter || atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    int64_t wait_min = exposed || moved >= (uint64_t)dt ? 0 : dt - (int64_t)moved;
    int size_class = -1;
    uint32_t path = IX_PATH_NONE;
    int64_t moving = 0;
    ix_row *row = NULL;
    if (touched) {
        if (t->has_row) {
            size_class = t->first_class;
            path = t->first_path;
            row = t->first_row;
        }
        moving = t->moving_min_ns;
        incur_debt(t, dt, moved);
        reset(t);
    }
    if (!row)
        row = row_of_call(t, size_class, path);
    row->count++;
    row->call_ns += dt;
    row->wait_min_ns += pay_debt(t, wait_min);
    row->wait_max_ns += dt - moving;
    t->part->calls++;
}

static void publish(ix_thread *t, int64_t now)
{
    int64_t since_start = now - ix_engine.start_ns;
    t->part->compute_ns = t->compute_ns;
    t->part->call_ns = t->call_ns;
    t->part->last_exit_ns = since_start;
    if (t->slot == 0)
        ix_engine.part->rank.wall_ns = since_start;
}

/* A call during which measuring paused, resumed or stopped; returns its recorded time, -1 if none.
 */
static int64_t leave_slow(ix_thread *t, int64_t now)
{
    int64_t measured = ix_unpaused(t, now);
    if (t->unrecorded) {
        t->unrecorded = 0;
        t->paused_ns += measured;
        return -1;
    }
    return t->off ? -1 : measured;
}

/* The end of a call that began or ended transfers, or that is not recorded (dt < 0: not even its
 * time is). */
static __attribute__((noinline)) void leave_touched(ix_thread *t, int counted, int64_t dt,
                                                    int64_t entered, int64_t now)
{
    int recorded = counted && dt >= 0;
    if (recorded)
        t->call_ns += dt;
    else if (dt > 0)
        t->compute_ns += dt;
    if (t->blocking_count | t->finished)
        close_transfers(t, recorded ? dt : 0, now);
    if (recorded) {
        record(t, dt, entered, now, t->touched);
    } else if (t->touched) {
        incur_debt(t, 0, UINT64_MAX);
        reset(t);
    }
    publish(t, now);
}

static inline __attribute__((always_inline)) void leave(ix_thread *t, int counted)
{
    int64_t now = ix_now(), entered = t->last_ns, dt;
    if (IX_UNLIKELY(t->muted ||
                    t->epoch != atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))) {
        dt = leave_slow(t, now);
        if (t->off) {
            reset(t);
            return;
        }
    } else {
        dt = now - entered;
        t->last_ns = now;
    }
    if (!counted || t->touched | t->blocking_count | t->finished || IX_UNLIKELY(dt < 0)) {
        leave_touched(t, counted, dt, entered, now);
        return;
    }
    t->call_ns += dt;
    record(t, dt, entered, now, 0);
    publish(t, now);
}

void ix_leave(ix_thread *t)
{
    if (IX_LIKELY(t && t->depth && --t->depth == 0))
        leave(t, 1);
}

void ix_leave_uncounted(ix_thread *t)
{
    if (t && t->depth && --t->depth == 0)
        leave(t, 0);
}

void ix_enter_slow(ix_thread *t, int64_t now)
{
    t->compute_ns += ix_unpaused(t, now);
    t->unrecorded = t->muted;
}
