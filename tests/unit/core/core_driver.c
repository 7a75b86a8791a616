/* Reads a script of engine calls from standard input, runs it on a clock that only the script
 * moves, and prints what the engine recorded. Each line: THREAD COMMAND ARGUMENTS. Threads are
 * real, one acts at a time. test_reference.py writes the scripts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"

enum { THREADS = 4, TOKENS = 64, LINE = 1 << 16 };

static int64_t clock_ns;
static uint32_t tokens[TOKENS];
static uint64_t sequences[TOKENS], handles[TOKENS];
static const char *const operations[] = {"MPI_Other", "MPI_Send", "MPI_Recv",      "MPI_Isend",
                                         "MPI_Irecv", "MPI_Wait", "MPI_Allreduce", "MPI_Bcast"};
enum { OPERATIONS = sizeof operations / sizeof *operations };
static ix_options options;
static char part_path[4096], table[1 << 20];

static int64_t fake_clock(void)
{
    return clock_ns;
}

static ix_transfer transfer_of(const char *text)
{
    long long bytes;
    int path, slack, flags, role, ranks, operation;
    if (sscanf(text, "%lld %d %d %d %d %d %d", &bytes, &path, &slack, &flags, &role, &ranks,
               &operation) != 7)
        abort();
    return (ix_transfer){bytes,         (uint8_t)path,  (uint8_t)slack,     (uint8_t)flags,
                         (uint8_t)role, (int32_t)ranks, (uint32_t)operation};
}

static void dump(void)
{
    static ix_row rows[65536];
    size_t count = ix_collect_rows(rows, sizeof rows / sizeof *rows);
    const ix_part_header *part = ix_part();
    const ix_part_site *sites = (const void *)((const char *)part + part->sites.offset);
    const ix_part_name *sections = (const void *)((const char *)part + part->sections.offset);
    for (size_t i = 0; i < count; i++) {
        const ix_row *r = &rows[i];
        printf("row %lld %u \"%s\" %d %u %u", (long long)(r->site ? sites[r->site].offset : 0),
               r->operation, sections[r->section].name, r->size_class, r->path, r->source);
        const int64_t *values = &r->count;
        for (int v = 0; v < 16; v++)
            printf(" %lld", (long long)values[v]);
        printf("\n");
    }
    const ix_rank_row *k = &part->rank;
    printf("rank %lld %lld %lld %lld %lld %lld %lld %d %d\n", (long long)k->wall_ns,
           (long long)k->compute_ns, (long long)k->call_ns, (long long)k->calls,
           (long long)k->dropped, (long long)k->overflow, (long long)k->section_errors, k->threads,
           k->ended);
    fflush(stdout);
}

static void begin_engine(void)
{
    char error[200];
    clock_ns = 1000;
    ix_clock_start(fake_clock);
    if (ix_load_times(table, strlen(table), operations, OPERATIONS, error, sizeof error))
        printf("error %s\n", error);
    options.operations = operations;
    options.operation_count = OPERATIONS;
    options.ranks = 1;
    options.part_path = part_path[0] ? part_path : NULL;
    printf("started %d\n", (int)ix_start(&options));
}

static ix_thread *self(void)
{
    ix_thread *t = ix_current();
    return t;
}

static void run(char *line)
{
    char name[64], text[LINE];
    int used = 0, a, b;
    long long n, m;
    if (sscanf(line, "%63s%n", name, &used) != 1)
        abort();
    const char *rest = line + used + (line[used] == ' ');
    snprintf(text, sizeof text, "%s", rest);
    ix_transfer x;
#define IS(keyword) (!strcmp(name, keyword))
    if (IS("advance")) {
        clock_ns += atoll(rest);
    } else if (IS("enter")) {
        sscanf(rest, "%d %d", &a, &b);
        ix_enter((uint32_t)a, (const void *)(uintptr_t)b);
    } else if (IS("leave")) {
        ix_leave(self());
    } else if (IS("leave_uncounted")) {
        ix_leave_uncounted(self());
    } else if (IS("blocking")) {
        x = transfer_of(rest);
        ix_blocking(self(), &x);
    } else if (IS("begin") || IS("persistent")) {
        n = strtoll(rest, (char **)&rest, 10);
        x = transfer_of(rest);
        (IS("begin") ? ix_begin : ix_persistent)(self(), (uint64_t)n, &x);
    } else if (IS("start")) {
        ix_start_request(self(), (uint64_t)atoll(rest));
    } else if (IS("finish")) {
        sscanf(rest, "%lld %lld %d", &n, &m, &a);
        ix_finish(self(), (uint64_t)n, m, a);
    } else if (IS("free")) {
        ix_request_free(self(), (uint64_t)atoll(rest));
    } else if (IS("cancel")) {
        ix_cancel(self(), (uint64_t)atoll(rest));
    } else if (IS("shared")) {
        ix_shared_handle((uint64_t)atoll(rest));
    } else if (IS("group")) {
        n = strtoll(rest, (char **)&rest, 10);
        a = (int)strtol(rest, (char **)&rest, 10);
        x = transfer_of(rest);
        ix_begin_in_group(self(), (uint64_t)n, a, &x);
    } else if (IS("endgroup")) {
        sscanf(rest, "%lld %d %d", &n, &a, &b);
        ix_finish_group(self(), (uint64_t)n, a, (enum ix_slack)b);
    } else if (IS("forget")) {
        ix_forget_group(self(), strtoull(rest, NULL, 10));
    } else if (IS("exposed")) {
        ix_exposed(self(), atoi(rest));
    } else if (IS("post")) {
        a = (int)strtol(rest, (char **)&rest, 10);
        n = strtoll(rest, (char **)&rest, 10);
        b = (int)strtol(rest, (char **)&rest, 10);
        x = transfer_of(rest);
        tokens[a] = ix_post(self(), &x, ix_now() - n, (enum ix_source)b);
    } else if (IS("complete")) {
        int slack, source;
        sscanf(rest, "%d %lld %lld %d %d", &a, &n, &m, &slack, &source);
        ix_complete(self(), tokens[a], ix_now() - n, m, (enum ix_slack)slack,
                    (enum ix_source)source);
        tokens[a] = 0;
    } else if (IS("note")) { /* a transfer that a request has, to be ended early */
        sscanf(rest, "%d %lld", &a, &n);
        sequences[a] = ix_sequence_of(self(), (uint64_t)n);
        handles[a] = (uint64_t)n;
    } else if (IS("early")) {
        sscanf(rest, "%d %lld", &a, &n);
        ix_finish_early(self(), handles[a], sequences[a], ix_now() - n);
    } else if (IS("source")) {
        ix_leave_to_source((uint32_t)atoi(rest));
    } else if (IS("section")) {
        ix_section_begin(rest);
    } else if (IS("endsection")) {
        ix_section_end(rest);
    } else if (IS("pause")) {
        ix_pause();
    } else if (IS("resume")) {
        ix_resume();
    } else if (IS("overhead")) {
        ix_measure_overhead((uint32_t)atoi(rest));
    } else if (IS("kill")) {
        abort();
    } else {
        fprintf(stderr, "unknown command %s\n", name);
        exit(3);
    }
}

/* Threads act one at a time, each when the script names it, so that every run is the same. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char *order;
static int order_for, started[THREADS], quit;
static pthread_t threads[THREADS];

static void *work(void *argument)
{
    int me = (int)(intptr_t)argument;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (order_for != me && !quit)
            pthread_cond_wait(&changed, &mutex);
        if (quit)
            break;
        int last = !strcmp(order, "exit");
        if (!last)
            run(order);
        order_for = -1;
        pthread_cond_broadcast(&changed);
        if (last)
            break;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void command(int thread, char *line)
{
    if (thread == 0) {
        run(line);
        return;
    }
    if (!started[thread]) {
        started[thread] = 1;
        pthread_create(&threads[thread], NULL, work, (void *)(intptr_t)thread);
    }
    pthread_mutex_lock(&mutex);
    order = line;
    order_for = thread;
    pthread_cond_broadcast(&changed);
    while (order_for != -1)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    if (!strcmp(line, "exit")) {
        pthread_join(threads[thread], NULL);
        started[thread] = 0;
    }
}

static void join_threads(void)
{
    pthread_mutex_lock(&mutex);
    quit = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int i = 1; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    memset(started, 0, sizeof started);
    quit = 0;
    order_for = -1;
}

int main(void)
{
    static char line[LINE];
    order_for = -1;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = line + strcspn(line, " ");
        if (*rest)
            *rest++ = 0;
        if (!strcmp(line, "table")) { /* the rest of the line, with ; for a new line */
            for (char *c = rest; *c; c++)
                if (*c == ';')
                    *c = '\n';
            snprintf(table, sizeof table, "%s", rest);
        } else if (!strcmp(line, "limits")) {
            ix_limits *l = &options.limits;
            sscanf(rest, "%u %u %u %u %u %u %u", &l->main_rows, &l->thread_rows, &l->threads,
                   &l->sites, &l->images, &l->sections, &l->requests);
        } else if (!strcmp(line, "threading")) {
            options.threading = (enum ix_threading)atoi(rest);
        } else if (!strcmp(line, "part")) {
            snprintf(part_path, sizeof part_path, "%s", rest);
        } else if (!strcmp(line, "init")) {
            begin_engine();
        } else if (!strcmp(line, "stop")) {
            join_threads();
            ix_stop();
        } else if (!strcmp(line, "dump")) {
            dump();
        } else if (!strcmp(line, "reset")) {
            join_threads();
            ix_release(1);
            memset(tokens, 0, sizeof tokens); /* no script knows the transfers of the one before */
            memset(sequences, 0, sizeof sequences);
            memset(handles, 0, sizeof handles);
            printf("done\n");
            fflush(stdout);
        } else {
            command(atoi(line), rest);
        }
    }
    return 0;
}
