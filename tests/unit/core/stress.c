/* Threads that begin and finish requests on few handles at once, also those of each other: every
 * transfer must end exactly once. Run under a sanitizer. */
#include <pthread.h>
#include <stdio.h>

#include "core/engine.h"

enum { THREADS = 4, ROUNDS = 3000, HANDLES = 48 };

static const char *const operations[] = {"MPI_Isend", "MPI_Wait", "MPI_Put", "MPI_Win_flush"};

static void *work(void *argument)
{
    uint32_t random = (uint32_t)(uintptr_t)argument * 2654435761u + 1;
    const ix_transfer x = {.bytes = 64, .path = IX_PATH_INTRA, .slack = IX_SLACK_TAIL};
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        uint64_t handle = 0x1000 + 64 * ((random >> 8) % HANDLES);
        ix_thread *t = ix_enter(0, (const void *)(uintptr_t)(0x100 + (random >> 20) % 300));
        ix_begin(t, handle, &x);
        ix_leave(t);
        t = ix_enter(2, NULL);
        ix_begin_in_group(t, 0x77, (int32_t)(random >> 28), &x);
        ix_leave(t);
        t = ix_enter(1, NULL);
        ix_finish(t, 0x1000 + 64 * ((random >> 16) % HANDLES), IX_AS_POSTED, IX_AS_POSTED);
        ix_leave(t);
        t = ix_enter(3, NULL);
        ix_finish_group(t, 0x77, (int32_t)(random >> 28), IX_SLACK_NONE);
        ix_leave(t);
        if (i % 100 == 0) {
            char name[16];
            snprintf(name, sizeof name, "part%u", (random >> 8) % 50);
            ix_section_begin(name);
            ix_section_end(name);
        }
        if (i % 500 == 0) {
            ix_pause();
            ix_resume();
        }
    }
    return NULL;
}

int main(void)
{
    static ix_row rows[65536];
    const char table[] = "imbrex-table 1\npath intra-node\npoint 64 100 200 50 50\nend\n";
    pthread_t threads[THREADS];
    ix_options options = {
        .ranks = 1, .threading = IX_CONCURRENT, .operations = operations, .operation_count = 4};
    if (ix_load_times(table, sizeof table - 1, operations, 4, NULL, 0))
        return 1;
    ix_start(&options);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ix_stop();
    size_t count = ix_collect_rows(rows, sizeof rows / sizeof *rows);
    int64_t transfers = 0, calls = 0, wrong = 0, wait_wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const ix_row *r = &rows[i];
        transfers += r->transfers;
        calls += r->count;
        wrong +=
            r->transfer_max_ns != 200 * r->transfers || r->transfer_min_ns != 100 * r->transfers;
        wrong += r->overlap_min_ns < 0 || r->overlap_min_ns > r->overlap_max_ns ||
                 r->overlap_max_ns > r->transfer_max_ns || r->exposed_min_ns > r->exposed_max_ns;
        wait_wrong +=
            r->wait_min_ns < 0 || r->wait_min_ns > r->wait_max_ns || r->wait_max_ns > r->call_ns;
    }
    int64_t dropped = ix_part()->rank.dropped;
    printf("%lld %lld %lld %lld\n", (long long)(transfers + dropped), (long long)calls,
           (long long)wrong, (long long)wait_wrong);
    return 0;
}
