/* Checks of the call log without MPI: its file, its memory, and threads that fill it. Two of them
 * run with the machine's clock. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_log_checks.h"

static void check_damaged(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    blocking_send(1, 1, 1);
    size_t bytes = ix_log()->bytes;
    char *copy = malloc(bytes), error[100];
    memcpy(copy, ix_log(), ix_log()->chunk_offset + IX_LOG_CHUNK_BYTES);
    ix_log_header *h = (void *)copy;
    ix_log_reader reader;
    CHECK(!ix_log_open(&reader, copy, bytes, 0, error, sizeof error));
    ix_log_close(&reader);
    CHECK(ix_log_open(&reader, copy, 10, 0, error, sizeof error));
    CHECK(ix_log_open(&reader, copy, h->chunk_offset + 100, 0, error, sizeof error));
    CHECK(!strcmp(error, "cut short"));
    h->version++;
    CHECK(ix_log_open(&reader, copy, bytes, 0, error, sizeof error));
    CHECK(strstr(error, "another version"));
    h->version--;
    h->chunk_offset += 7;
    CHECK(ix_log_open(&reader, copy, bytes, 0, error, sizeof error));
    CHECK(!strcmp(error, "damaged"));
    h->chunk_offset -= 7;
    h->comms.used = h->comms.capacity + 1;
    CHECK(ix_log_open(&reader, copy, bytes, 0, error, sizeof error));
    h->magic[0] = 'X';
    CHECK(ix_log_open(&reader, copy, bytes, 0, error, sizeof error));
    CHECK(!strcmp(error, "not a call log"));
    free(copy);
}

/* No more room in the file than for a part of the budget: the log stays smaller. */
static void check_limited(void)
{
    ix_options options = {.part_path = part_path, .operations = operations, .operation_count = 8};
    ix_clock_start(fake_clock);
    CHECK(ix_start(&options) == IX_START_FILE);
    struct stat file;
    CHECK(!stat(part_path, &file));
    rlim_t part = (rlim_t)file.st_size;
    CHECK(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){part + 4096, RLIM_INFINITY}));
    CHECK(ix_log_start(1 << 20, 0) == -1 && !ix_log());
    CHECK(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){part + (600 << 10), RLIM_INFINITY}));
    CHECK(ix_log_start(1 << 20, 0) == 0);
    ix_log_begin();
    for (int i = 0; i < 100000; i++) {
        blocking_send(1, 1, 1);
        clock_ns += 1000;
    }
    CHECK(ix_log_refused() && ix_log()->level > 0 && ix_log()->chunks_used < ix_log()->chunks);
    CHECK(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}));
}

static void *exchange(void *which)
{
    int32_t tag = *(int32_t *)which;
    uint64_t handle = 0x100000u * (uint32_t)(tag + 1);
    for (uint32_t i = 0; i < 20000; i++) {
        ix_thread *t = ix_enter(IRECV, NULL);
        begin_message(t, handle + 64 * (i % 8), i, IX_LOG_RECV, 1, tag);
        ix_leave(t);
        t = ix_enter(WAIT, NULL);
        complete(t, handle + 64 * (i % 8), 1, tag, i + 1, 0);
        ix_leave(t);
    }
    return NULL;
}

/* Four threads, each with streams of its own, in a log that is full again and again. */
static void check_exchanges(uint64_t budget, int whole)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int32_t tags[THREADS];
    begin(budget, IX_CONCURRENT, 1);
    for (int i = 0; i < THREADS; i++) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, exchange, &tags[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ix_stop();
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r, *end;
    uint32_t id, count = 0;
    int64_t before[256] = {0};
    while ((r = ix_log_next(&reader, &cursor, &id))) {
        CHECK(r->enter_ns >= before[r->thread]);
        before[r->thread] = r->enter_ns;
        count++;
        if (r->kind != IX_LOG_RECV)
            continue;
        if (r->end_call != IX_LOG_END_UNSEEN)
            CHECK(r->bytes == r->sequence);
        end = ix_log_find(&reader, r->end_call);
        CHECK(!end || (end->kind == IX_LOG_COMPLETION && end->thread == r->thread));
        CHECK(!whole || end);
    }
    CHECK((ix_log()->lost == 0 || !whole) && ix_log()->end_ns > 0);
    CHECK(whole ? count == THREADS * 40000 && ix_log()->level == 0 : ix_log()->level > 0);
    ix_log_close(&reader);
}

static void check_killed(void)
{
    pid_t child = fork();
    if (child == 0) {
        begin(1 << 20, IX_ONE_THREAD, 0);
        for (int i = 0; i < 200; i++)
            blocking_send(1, 1, i);
        ix_thread *t = enter(SEND); /* in the middle of a call */
        ix_log_message(t, 5, to(1), message(IX_LOG_SEND, 1, 0));
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    FILE *f = fopen(part_path, "r");
    struct stat is;
    CHECK(f && !fstat(fileno(f), &is));
    char *part = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fileno(f), 0), error[100];
    const ix_part_header *h = (const void *)part;
    ix_log_reader reader;
    CHECK(h->log_offset && h->log_bytes == 1 << 20);
    CHECK(!ix_log_open(&reader, part + h->log_offset, (size_t)is.st_size - h->log_offset, 0, error,
                       sizeof error));
    ix_log_cursor cursor = {0};
    uint32_t id, count = 0;
    while (ix_log_next(&reader, &cursor, &id))
        count++;
    CHECK(count == 200 && reader.log->end_ns == 0);
    ix_log_close(&reader);
    fclose(f);
}

/* Once the budget is full, no page is touched for the first time any more. */
static void check_faults(void)
{
    struct rusage before, after;
    begin(1 << 20, IX_ONE_THREAD, 1);
    int32_t tag = 1;
    exchange(&tag);
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 5; i++)
        exchange(&tag);
    getrusage(RUSAGE_SELF, &after);
    CHECK(ix_log()->chunks_used == ix_log()->chunks);
    printf("%ld faults\n", after.ru_minflt - before.ru_minflt);
    CHECK(after.ru_minflt - before.ru_minflt <= 4);
}

static void check_threads(void)
{
    check_exchanges(16 << 20, 1);
}

static void check_crowd(void)
{
    check_exchanges(IX_LOG_LEAST, 0);
}

int main(int argc, char **argv)
{
    static const named_check checks[] = {
        {"damaged", check_damaged},
        {"limited", check_limited},
        {"threads", check_threads},
        {"crowd", check_crowd},
        {"killed", check_killed},
        {"faults", check_faults},
        {NULL, NULL},
    };
    return run_check(checks, argc, argv);
}
