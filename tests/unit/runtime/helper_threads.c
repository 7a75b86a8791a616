/* Threads of a program that begin and complete transfers, and the helper that looks for them, on
 * the helper's own state and the engine's list of open transfers. What stands for the library is
 * plain memory: each thread writes its own part of it inside calls, a look all of it. So a look
 * beside a call, and a list that is read while it is written, are data races that a thread
 * sanitizer finds; a helper that is not woken, a look that never comes.
 * Prints the looks, those that saw a transfer complete, and the transfers that are open in the end.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/engine.h"
#include "core/needing.h"
#include "progress/helper.h"

enum { THREADS = 3, ROUNDS = 1000, STARTS = 3, PATIENCE_S = 60 };

static const char *const operations[] = {"MPI_Isend", "MPI_Wait"};
static long library[THREADS];
static _Atomic long looks, completed;
static _Atomic int failed;

static int is_needed(void)
{
    return ix_any_needs_progress();
}

static int look(void)
{
    uint32_t place = 0;
    uint64_t handle;
    int other_open;
    for (int i = 0; i < THREADS; i++)
        library[i]++;
    if (ix_next_needing(&place, &handle, &other_open) && library[handle % THREADS] % 2) {
        ix_seen_complete_at(place);
        atomic_fetch_add(&completed, 1);
    }
    atomic_fetch_add(&looks, 1);
    return 0;
}

static ix_thread *enter(uint32_t operation)
{
    ix_thread *t = ix_enter(operation, (const void *)0x100);
    ix_helper_entered();
    return t;
}

static void leave(ix_thread *t)
{
    ix_leave(t); /* which may take transfers from the list */
    ix_helper_left(is_needed());
}

/* Compute until the helper has looked: it was woken. */
static void compute(void)
{
    long before = atomic_load(&looks);
    time_t give_up = time(NULL) + PATIENCE_S;
    while (atomic_load(&looks) == before && is_needed()) {
        sched_yield();
        if (time(NULL) > give_up) {
            atomic_store(&failed, 1);
            return;
        }
    }
}

static void *work(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument;
    const ix_transfer x = {.bytes = 65536, .path = IX_PATH_INTER, .slack = IX_SLACK_TAIL};
    for (uint64_t i = 0; i < ROUNDS && !atomic_load(&failed); i++) {
        uint64_t handle = 0x10000 + i * THREADS + number;
        ix_thread *t = enter(0);
        library[number]++;
        ix_begin(t, handle, &x);
        leave(t);
        if (i % 4 == 0)
            compute();
        t = enter(1);
        library[number]++;
        ix_finish(t, handle, IX_AS_POSTED, IX_AS_POSTED);
        leave(t);
    }
    return NULL;
}

int main(void)
{
    ix_options options = {
        .ranks = 1, .threading = IX_CONCURRENT, .operations = operations, .operation_count = 2};
    ix_start(&options);
    if (ix_count_those_in_need(64))
        return 1;
    for (int start = 0; start < STARTS; start++) {
        pthread_t threads[THREADS];
        ix_helper_options helper = {.is_needed = is_needed, .look = look};
        ix_pace_start(&helper.pace, 20000, 0, 1, 1000);
        if (ix_helper_start(&helper))
            return 1;
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ix_helper_stop();
        if (ix_helper_counted().looks == 0)
            return 1;
    }
    ix_stop();
    printf("%ld %ld %d\n", atomic_load(&looks), atomic_load(&completed), is_needed());
    return atomic_load(&failed);
}
