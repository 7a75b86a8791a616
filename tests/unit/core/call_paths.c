/* Checks of the looks at the stack without MPI, one for each name in argv[1]; argv[2]: the part
 * file. Exits with 0, or says which line failed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/call_paths.h"
#include "core/engine.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define APART __attribute__((noinline, noipa))

static const char *const operations[] = {"MPI_Other", "MPI_Send"};
static int calls;

/* What a wrapper of MPI is. */
APART static void send_(void)
{
    ix_thread *t = ix_enter_from(1, __builtin_return_address(0), NULL);
    ix_leave(t);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* The user's one file with MPI calls, and who calls it. */
APART static void exchange(void)
{
    send_();
    __asm__ volatile("");
}

APART static void one(void)
{
    exchange();
    __asm__ volatile("");
}

APART static void two(void)
{
    exchange();
    __asm__ volatile("");
}

APART static void recurse(int more)
{
    if (more)
        recurse(more - 1);
    else
        exchange();
    __asm__ volatile("");
}

static void begin(const char *file, enum ix_threading threading)
{
    ix_options options = {.part_path = file,
                          .ranks = 1,
                          .operations = operations,
                          .operation_count = 2,
                          .threading = threading};
    CHECK(ix_start(&options) == (file ? IX_START_FILE : IX_START_ANONYMOUS));
}

static const ix_part_table *table(void)
{
    return &ix_part()->call_paths;
}

static const ix_part_call_path *path(uint64_t i)
{
    return (const ix_part_call_path *)((const char *)ix_part() + table()->offset) + i;
}

static int64_t looks(void)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < table()->used; i++)
        sum += path(i)->samples;
    return sum;
}

static int64_t due_up_to(int64_t calls_)
{
    int64_t sum = 0;
    for (int64_t n = 1; n <= calls_; n++)
        sum += ix_call_path_is_due(n);
    return sum;
}

/* Few looks, the first three among them, and no caller that comes around is left out. */
static void places(void)
{
    CHECK(ix_call_path_is_due(1) && ix_call_path_is_due(2) && ix_call_path_is_due(3));
    CHECK(due_up_to(100) >= 15 && due_up_to(1000000) <= 80);
    for (int callers = 2; callers <= 12; callers++) {
        int seen[12] = {0}, all = 0;
        for (int64_t n = 1; n <= 10000000; n++)
            if (ix_call_path_is_due(n)) {
                seen[n % callers]++;
                all++;
            }
        for (int i = 0; i < callers; i++)
            CHECK(2 * seen[i] * callers >= all && seen[i] * callers <= 2 * all);
    }
}

/* Two callers and what is common to them. */
static void callers(void)
{
    for (int i = 0; i < 500; i++) {
        one();
        two();
    }
    CHECK(table()->used == 2 && looks() == due_up_to(calls));
    CHECK(path(0)->site == 1 && path(1)->site == 1);
    CHECK(path(0)->callers[0] != path(1)->callers[0]);
    CHECK(path(0)->count == path(1)->count && path(0)->count >= 3);
    /* this function and main are on both, from another line */
    CHECK(path(0)->callers[1] != path(1)->callers[1]);
    CHECK(path(0)->callers[2] == path(1)->callers[2]);
    CHECK(llabs(path(0)->samples - path(1)->samples) <= looks() / 3);
    CHECK(path(0)->callers[0] >> 56 < ix_part()->images.used);
    CHECK(ix_call_paths_ns() > 0);
}

/* Eight paths are kept whole; the rest counts with the callers that more of them have in common. */
static void many(void)
{
    for (int i = 0; i < 400; i++)
        for (int depth = 0; depth < 40; depth++)
            recurse(depth);
    CHECK(looks() == due_up_to(calls));
    int whole = 0, common = 0;
    for (uint64_t i = 0; i < table()->used; i++) {
        CHECK(path(i)->count > 0);
        CHECK(!path(i)->is_cut || path(i)->count == 12);
        whole += !path(i)->is_cut;
        /* twelve calls of itself, from whatever depth */
        common += path(i)->is_cut && path(i)->callers[1] == path(i)->callers[11];
    }
    CHECK(whole == 8 && common == 1 && table()->used <= 16);
}

static void cut(void)
{
    recurse(200);
    CHECK(table()->used == 1 && path(0)->count == IX_CALLERS);
    CHECK(path(0)->callers[1] == path(0)->callers[IX_CALLERS - 1]);
}

/* After an image was unloaded the same addresses are another path. */
static void forgotten(void)
{
    one();
    ix_call_paths_forget();
    one();
    CHECK(table()->used == 2 && path(0)->samples == 1 && path(1)->samples == 1);
}

static ucontext_t back, other;

static void elsewhere(void)
{
    one();
    swapcontext(&other, &back);
}

/* On a stack that is not the thread's own nobody looks. */
static void coroutine(void)
{
    static char stack[1 << 16];
    CHECK(getcontext(&other) == 0);
    other.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    other.uc_link = &back;
    makecontext(&other, elsewhere, 0);
    CHECK(swapcontext(&back, &other) == 0);
    CHECK(calls == 1 && table()->used == 0);
    one();
    CHECK(table()->used == 1);
}

static void *work(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < 3000; i++) {
        one();
        two();
        recurse(i % 3);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, work, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    CHECK(table()->used == 5 && looks() >= 30);
}

/* The process is gone; its file has what it saw. */
static void killed(void)
{
    one();
    two();
    printf("%llu\n", (unsigned long long)table()->used);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } checks[] = {{"callers", callers},     {"many", many},       {"cut", cut},
                  {"forgotten", forgotten}, {"threads", threads}, {"coroutine", coroutine},
                  {"killed", killed}};
    CHECK(argc > 1);
    if (!strcmp(argv[1], "places")) {
        places();
        return 0;
    }
    begin(argc > 2 ? argv[2] : NULL, strcmp(argv[1], "threads") ? IX_ONE_THREAD : IX_CONCURRENT);
    if (!strcmp(argv[1], "off")) {
        one();
        CHECK(table()->used == 0);
        return 0;
    }
    ix_call_paths_start();
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!strcmp(argv[1], checks[i].name)) {
            checks[i].check();
            ix_stop();
            ix_release(0);
            return 0;
        }
    return 2;
}
