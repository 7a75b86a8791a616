/* The threads of this process: each that makes a call gets a slot of the engine, until it ends. */
#include "core/plans.h"

#include <pthread.h>
#include <unistd.h>

__thread ix_thread *ix_self;
static __thread int refused; /* no slot was free for this thread */
static __thread int stays_out;
static pthread_key_t thread_exit;
static int has_thread_exit;

static void detach(void *thread)
{
    ix_thread *t = thread;
    ix_self = NULL;
    if (!ix_engine.threads || t < ix_engine.threads || getpid() != ix_engine.pid)
        return;
    uint32_t slot = (uint32_t)(t - ix_engine.threads);
    if (slot >= ix_engine.limits.threads)
        return;        /* of an engine that was released */
    if (ix_depth(t)) { /* cancelled, or it left through a callback: the call lasted until now */
        t->state = (t->state & ~IX_DEPTH) | 1;
        ix_leave(t);
    }
    for (; t->section_depth; t->section_depth--)
        ix_count(&ix_engine.part->rank.section_errors);
    t->section = 0;
    t->section_overflow = 0;
    atomic_store_explicit(&ix_engine.thread_used[slot], 0, memory_order_release);
}

static ix_thread *claim(uint32_t slot)
{
    uint32_t unused = 0;
    if (!atomic_compare_exchange_strong(&ix_engine.thread_used[slot], &unused, 1))
        return NULL;
    ix_thread *t = &ix_engine.threads[slot];
    uint32_t rows = (uint32_t)t->part->rows.capacity;
    if (!t->row_used)
        ix_rows_start(t, t->rows, rows, t->row_index, ix_power_of_two(2 * rows));
    int64_t now = ix_now();
    /* What an ended thread began here and this one ends: between them no clock ran. */
    if (t->last_ns)
        t->paused_ns += now - t->last_ns;
    t->paused_seen_ns = ix_paused_until(now);
    t->last_ns = now;
    t->site = -1;
    t->state = ix_state_between_calls();
    t->muted = 1; /* until the first boundary has read the epoch */
    ix_set_context(t);
    t->epoch = t->measured_epoch = UINT64_MAX;
    ix_part_header *part = ix_engine.part;
    uint64_t used = __atomic_load_n(&part->threads.used, __ATOMIC_RELAXED);
    while (used <= slot && !__atomic_compare_exchange_n(&part->threads.used, &used, slot + 1u, 0,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    ix_lock();
    if (part->rank.threads < 255)
        part->rank.threads++;
    ix_unlock();
    return t;
}

ix_thread *ix_attach(void)
{
    if (stays_out || !atomic_load_explicit(&ix_engine.running, memory_order_acquire))
        return NULL;
    if (refused) {
        ix_count(&ix_engine.part->rank.overflow);
        return NULL;
    }
    for (uint32_t slot = 0; slot < ix_engine.limits.threads; slot++) {
        ix_thread *t = claim(slot);
        if (!t)
            continue;
        ix_self = t;
        if (slot && has_thread_exit)
            pthread_setspecific(thread_exit, t);
        return t;
    }
    refused = 1;
    atomic_store(&ix_share.unseen, 1);
    ix_count(&ix_engine.part->rank.overflow);
    return NULL;
}

void ix_stay_out(void)
{
    stays_out = 1;
}

ix_thread *ix_current(void)
{
    return ix_self ? ix_self : ix_attach();
}

void ix_threads_start(void)
{
    if (!has_thread_exit)
        has_thread_exit = pthread_key_create(&thread_exit, detach) == 0;
}

void ix_threads_end(void)
{
    refused = 0;
}
