/* Pausing and resuming: for all threads at once. A thread learns of it at its next boundary and
 * then works out how much of the time since its last one was paused. */
#include "core/internal.h"

static void change(int pause)
{
    if (!atomic_load(&ix_engine.running))
        return;
    ix_lock();
    if (atomic_load(&ix_engine.paused) != pause) {
        int64_t now = ix_now();
        atomic_fetch_add(&ix_share.epoch, 1);
        if (pause) {
            atomic_store(&ix_engine.pause_began_ns, now);
        } else {
            int64_t began = atomic_load(&ix_engine.pause_began_ns);
            atomic_fetch_add(&ix_engine.paused_ns, now - began);
        }
        atomic_store(&ix_engine.paused, pause);
        atomic_fetch_add(&ix_share.epoch, 1);
    }
    ix_unlock();
}

void ix_pause(void)
{
    change(1);
}

void ix_resume(void)
{
    change(0);
}

/* All paused time up to `now`, and the epoch and state it belongs to. */
static int64_t read_pauses(int64_t now, uint64_t *epoch, int *paused)
{
    for (;;) {
        *epoch = atomic_load(&ix_share.epoch);
        int64_t sum = atomic_load(&ix_engine.paused_ns);
        int64_t began = atomic_load(&ix_engine.pause_began_ns);
        *paused = atomic_load(&ix_engine.paused);
        if (!(*epoch & 1) && atomic_load(&ix_share.epoch) == *epoch)
            return sum + (*paused ? ix_most(0, now - began) : 0);
        sched_yield();
    }
}

int64_t ix_paused_until(int64_t now)
{
    uint64_t epoch;
    int paused;
    return read_pauses(now, &epoch, &paused);
}

/* Moves the thread's boundary to `now`; returns how much of the time since the last one was not
 * paused. */
int64_t ix_unpaused(ix_thread *t, int64_t now)
{
    int paused;
    int64_t total = read_pauses(now, &t->epoch, &paused);
    int64_t span = now - t->last_ns;
    int64_t gap = ix_least(span, ix_most(0, total - t->paused_seen_ns));
    int off = !atomic_load(&ix_engine.running);
    t->state = (t->state & ~IX_OFF) | (off ? IX_OFF : 0);
    t->muted = paused || off;
    ix_set_context(t);
    int forgets = t->unloaded != atomic_load(&ix_engine.unloaded); /* at its next ix_enter_slow */
    t->measured_epoch = t->muted || forgets ? UINT64_MAX : t->epoch;
    t->paused_ns += gap;
    t->paused_seen_ns = ix_most(total, t->paused_seen_ns);
    t->last_ns = now;
    return span - gap;
}
