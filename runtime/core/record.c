/* CALL_EXIT: what a call adds to the rows. The rules of the wait time: docs/theory.md, "Wait". */
#include "close.h"
#include "slots.h"

static IX_APART void blocking_anew(ix_thread *t, int64_t bytes, uint64_t word, uint32_t operation)
{
    ix_transfer transfer = ix_transfer_of(bytes, word, operation);
    if (!ix_begins(t, bytes, transfer.path))
        return;
    ix_open extra;
    ix_spread_at_once(t); /* in order */
    int room = t->blocking_count < IX_BLOCKING_MAX;
    ix_open *open = room ? &t->blocking[t->blocking_count++] : &extra;
    ix_open_transfer(t, &transfer, t->operation, open);
    t->touched |= IX_ENDED;
    if (!room)
        ix_close_unknown(t, open);
}

IX_HOT void ix_blocking_word(ix_thread *t, int64_t bytes, uint64_t word, uint32_t operation)
{
    if (!t || t->depth != 1)
        return;
    const ix_begin_entry *e = ix_begin_entry_of(t, bytes, word);
    if (IX_UNLIKELY(t->at_once_count == IX_AT_ONCE_MAX || t->blocking_count ||
                    !ix_begins_again(t, e, bytes, word) || !e->what.usual ||
                    e->what.flags & IX_UP_TO)) {
        blocking_anew(t, bytes, word, operation);
        return;
    }
    t->at_once[t->at_once_count++] = &e->what;
    ix_count_begin(t, (uint64_t)e->what.open_ns);
    t->touched |= IX_ENDED;
    ix_note_begin_again(t, e);
}

static void close_by_flags(ix_thread *t, ix_open *open, const ix_end *end)
{
    if (open->what.flags & IX_UP_TO)
        ix_close_unknown(t, open);
    else
        ix_close(t, open, end);
}

static IX_APART void close_blocking(ix_thread *t, int64_t dt, int64_t now)
{
    ix_end end = {t->compute_ns, t->call_ns, t->paused_ns, dt, now};
    for (uint32_t i = 0; i < t->blocking_count; i++)
        close_by_flags(t, &t->blocking[i], &end);
    t->blocking_count = 0;
}

static IX_APART void close_unusual(ix_thread *t, ix_slot *s, int64_t dt, int64_t now)
{
    ix_end end = {t->compute_ns, t->call_ns, t->paused_ns, dt, now};
    if (atomic_load_explicit(&s->duplicate, memory_order_relaxed)) {
        s->open.what.slack = IX_SLACK_UNKNOWN;
        s->open.what.usual = 0;
    }
    close_by_flags(t, &s->open, &end);
}

/* Transfers whose requests this call completed. */
static inline IX_ALWAYS void close_finished(ix_thread *t, int64_t dt, int64_t now)
{
    for (uint32_t i = t->finished; i;) {
        uint32_t self = i - 1;
        ix_slot *s = ix_table.slots + self;
        const ix_open *open = &s->open;
        i = s->next;
        if (IX_LIKELY(open->what.usual && open->thread == t && !(open->what.flags & IX_UP_TO) &&
                      !atomic_load_explicit(&s->duplicate, memory_order_relaxed)))
            ix_close_usual(t, &open->what, t->compute_ns - open->compute0_ns,
                           t->call_ns - open->call0_ns, t->paused_ns - open->paused0_ns, dt, now);
        else
            close_unusual(t, s, dt, now);
        if (IX_UNLIKELY(ix_is_persistent(s)))
            s->state = IX_INACTIVE;
        else
            ix_slot_release_at(self);
    }
}

static IX_COLD void close_finished_apart(ix_thread *t, int64_t now)
{
    close_finished(t, 0, now);
}

/* How long in this call, at most, data may have moved: of transfers open at any time in it and of
 * sends that had completed before. */
static inline uint64_t may_have_moved(const ix_thread *t, int64_t entered, int64_t now)
{
    uint64_t open =
        atomic_load_explicit(&ix_share.begun_ns, memory_order_acquire) - t->closed_at_enter;
    int64_t tail = ix_least(now, t->moving_until_ns) - entered;
    return open + (uint64_t)ix_most(0, tail);
}

static inline void owe(ix_thread *t, uint64_t debt_ns, uint64_t own_share_ns)
{
    ix_add(&ix_share.debt_ns, debt_ns);
    t->debt_paid_ns += debt_ns - own_share_ns;
}

static inline void incur_debt(ix_thread *t, int64_t dt, uint64_t moved)
{
    uint64_t outside = (uint64_t)t->outside_ns;
    uint64_t uncovered = moved > (uint64_t)dt ? moved - (uint64_t)dt : 0;
    if (outside)
        owe(t, outside, outside < uncovered ? outside : uncovered);
    if (IX_UNLIKELY(ix_engine.concurrent)) /* ended calls of other threads did not know of them */
        owe(t, t->begun_here_ns < (uint64_t)dt ? t->begun_here_ns : (uint64_t)dt, 0);
}

static inline int64_t pay_debt(ix_thread *t, int64_t wait)
{
    uint64_t owed = atomic_load_explicit(&ix_share.debt_ns, memory_order_relaxed) - t->debt_paid_ns;
    if (IX_LIKELY(!owed) || wait <= 0)
        return wait;
    uint64_t paid = owed < (uint64_t)wait ? owed : (uint64_t)wait;
    t->debt_paid_ns += paid;
    return wait - (int64_t)paid;
}

static inline void reset(ix_thread *t)
{
    t->touched = 0;
    t->has_row = 0;
    t->finished = 0;
    t->blocking_count = 0;
    t->first_row = NULL;
    t->at_once_count = 0;
    t->begun_here_ns = 0;
    t->moving_min_ns = 0;
    t->outside_ns = 0;
}

static inline uint64_t call_word(const ix_thread *t, int size_class, uint32_t path)
{
    return ix_where(t) | (uint64_t)(uint8_t)size_class << 32 | (uint64_t)path << 40;
}

static inline ix_call_entry *call_entry(ix_thread *t, uint64_t word)
{
    uint64_t key = (uint64_t)(uintptr_t)t->address + (word >> 32);
    return &t->call_cache[ix_cache_slot(key, IX_CALL_CACHE)];
}

static inline int is_call(const ix_thread *t, const ix_call_entry *e, uint64_t word)
{
    return e->address == (uint64_t)(uintptr_t)t->address && e->word == word;
}

/* NULL where it is to be looked up. */
static inline ix_row *known_row(ix_thread *t, int size_class, uint32_t path)
{
    uint64_t word = call_word(t, size_class, path);
    const ix_call_entry *e = call_entry(t, word);
    return is_call(t, e, word) ? e->row : NULL;
}

/* Where another call's entry is at its own place, it may be at the neighbour's. */
static ix_call_entry *call_entry_elsewhere(ix_thread *t, uint64_t word)
{
    ix_call_entry *e = call_entry(t, word);
    ix_call_entry *other = &t->call_cache[(e - t->call_cache) ^ 1];
    return is_call(t, other, word) || (e->word && !other->word) ? other : e;
}

/* The row of a call: of the first transfer that it began, or of no transfer. */
static ix_row *row_of_call(ix_thread *t)
{
    int size_class = t->has_row ? t->first_class : -1;
    uint32_t path = t->has_row ? t->first_path : IX_PATH_NONE;
    ix_row *row = t->has_row && t->first_row ? t->first_row : known_row(t, size_class, path);
    if (IX_LIKELY(row))
        return row;
    uint64_t word = call_word(t, size_class, path);
    ix_call_entry *e = call_entry_elsewhere(t, word);
    if (is_call(t, e, word))
        return e->row;
    if (t->site < 0)
        t->site = ix_site_of(t, t->address);
    row = ix_row_of(t, t->site, t->operation, t->section, size_class, path, IX_SOURCE_CALL);
    if ((t->site || !t->address) && row != t->rows) { /* what finds no room is counted each time */
        *e = (ix_call_entry){.address = (uint64_t)(uintptr_t)t->address, .word = word, .row = row};
        *ix_hint_of(t) = (ix_hint){e, row};
    }
    return row;
}

static inline void publish(ix_thread *t, int64_t now)
{
    t->part->compute_ns = t->compute_ns;
    t->part->call_ns = t->call_ns;
    t->part->last_exit_ns = now - ix_engine.start_ns;
}

static inline IX_ALWAYS void count_call(ix_thread *t, ix_row *row, int64_t dt, int64_t moving,
                                        uint64_t moved, int64_t now)
{
    int exposed =
        t->exposed_at_enter || atomic_load_explicit(&ix_share.exposed, memory_order_relaxed);
    int64_t wait_min = exposed || moved >= (uint64_t)dt ? 0 : dt - (int64_t)moved;
    row->count++;
    row->call_ns += dt;
    row->wait_min_ns += pay_debt(t, wait_min);
    row->wait_max_ns += dt - moving;
    t->part->calls++;
    publish(t, now);
}

/* What a call adds whose time `dt` is in the thread's clock already. */
static IX_HOT IX_APART void record(ix_thread *t, int64_t dt, int64_t entered, int64_t now)
{
    for (uint32_t i = 0; i < t->at_once_count; i++)
        ix_close_usual(t, t->at_once[i], 0, dt, 0, dt, now);
    if (IX_UNLIKELY(t->blocking_count))
        close_blocking(t, dt, now);
    close_finished(t, dt, now);
    uint64_t moved = may_have_moved(t, entered, now);
    incur_debt(t, dt, moved);
    ix_row *row = row_of_call(t);
    int64_t moving = t->moving_min_ns;
    reset(t);
    count_call(t, row, dt, moving, moved, now);
}

/* A call during which measuring paused, resumed or stopped; returns its recorded time, -1 if none.
 */
static int64_t time_of_changed(ix_thread *t, int64_t now)
{
    int64_t measured = ix_unpaused(t, now);
    if (t->unrecorded) {
        t->unrecorded = 0;
        t->paused_ns += measured;
        return -1;
    }
    return t->off ? -1 : measured;
}

static inline int is_changed(const ix_thread *t)
{
    return t->measured_epoch != atomic_load_explicit(&ix_share.epoch, memory_order_relaxed);
}

/* Any end of a call. */
static IX_COLD void leave_any(ix_thread *t, int counted, int64_t now)
{
    int64_t entered = t->last_ns, dt = now - entered;
    ix_spread_at_once(t);
    if (is_changed(t)) {
        dt = time_of_changed(t, now);
        if (t->off) {
            reset(t);
            return;
        }
    }
    t->last_ns = now;
    if (counted && dt >= 0) {
        t->call_ns += dt;
        record(t, dt, entered, now);
        return;
    }
    if (dt > 0)
        t->compute_ns += dt;
    close_blocking(t, 0, now);
    close_finished_apart(t, now);
    if (t->touched)
        incur_debt(t, 0, UINT64_MAX);
    reset(t);
    publish(t, now);
}

/* The usual end: a call that began nothing, or what its site began before. The others are the last
 * thing it calls, so that it needs no stack. */
static inline IX_ALWAYS void leave(ix_thread *t, int64_t now)
{
    int64_t entered = t->last_ns, dt = now - entered;
    if (IX_UNLIKELY(is_changed(t) || dt < 0)) {
        leave_any(t, 1, now);
        return;
    }
    t->last_ns = now;
    t->call_ns += dt;
    ix_row *row = t->has_row ? t->first_row : known_row(t, -1, IX_PATH_NONE);
    if (t->touched & IX_ENDED || IX_UNLIKELY(!row)) {
        record(t, dt, entered, now);
        return;
    }
    t->touched = 0;
    t->has_row = 0;
    t->first_row = NULL;
    count_call(t, row, dt, 0, may_have_moved(t, entered, now), now);
}

static IX_COLD void leave_by_slow_clock(ix_thread *t)
{
    leave(t, ix_now_slow());
}

IX_HOT void ix_leave(ix_thread *t)
{
    if (IX_UNLIKELY(!t || t->depth != 1)) {
        if (t && t->depth)
            t->depth--;
        return;
    }
    t->depth = 0;
    if (IX_LIKELY(ix_clock_is_counter()))
        leave(t, ix_now_counter());
    else
        leave_by_slow_clock(t);
}

void ix_leave_uncounted(ix_thread *t)
{
    if (t && t->depth && --t->depth == 0)
        leave_any(t, 0, ix_now());
}

void ix_enter_slow(ix_thread *t, int64_t now)
{
    ix_sites_forget(t);
    t->compute_ns += ix_unpaused(t, now);
    t->unrecorded = t->muted;
}

static inline IX_ALWAYS void fetch_code(const char *code, int lines)
{
    for (int i = 0; i < lines; i++)
        __builtin_prefetch(code + 64 * i, 0, 2);
}

static inline IX_ALWAYS void fetch_data(const void *data, int lines)
{
    for (int i = 0; i < lines; i++)
        __builtin_prefetch((const char *)data + 64 * i, 1, 3);
}

/* Lines of code and of data that the end of this call will need, if it does what it did before. */
IX_HOT void ix_fetch_ahead(ix_thread *t)
{
    const ix_hint *hint = ix_hint_of(t);
    fetch_code((const char *)__builtin_return_address(0) + 64, 8); /* the rest of the wrapper */
    fetch_data(t->at_once, 1);
    fetch_code((const char *)(uintptr_t)ix_leave, 7);
    fetch_data(hint->entry, 2);
    fetch_data(hint->row, 3);
    fetch_data(&t->part->compute_ns, 1);
    fetch_code((const char *)(uintptr_t)ix_begin_word, 5);
    /* prefetches alone are no effect that a compiler keeps a call for */
    __asm__ volatile("" ::: "memory");
}
