#define _GNU_SOURCE
#include "progress/helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LOOKS = 64 }; /* one after the other, while each moves data */

ix_helper_shared ix_helper;

static struct {
    ix_helper_options options;
    pthread_t thread;
    pthread_mutex_t look; /* held during a look */
    _Atomic int stopping;
    _Atomic int64_t waits;
    ix_helper_counts counts; /* the helper's own while it runs */
    int has_thread, has_fork_handlers;
} helper = {.look = PTHREAD_MUTEX_INITIALIZER};

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The thread sleeps in a futex, from which a call of the program wakes it without a lock. */

static void sleep_while(int32_t state, int64_t most_ns)
{
    struct timespec most = {most_ns / 1000000000, most_ns % 1000000000};
    syscall(SYS_futex, &ix_helper.state, FUTEX_WAIT_PRIVATE, state, most_ns ? &most : NULL, NULL,
            0);
}

static void set_state(int32_t state)
{
    atomic_store(&ix_helper.state, state);
    syscall(SYS_futex, &ix_helper.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Of the threads that see it asleep one wakes it. */
void ix_helper_wake(void)
{
    int32_t asleep = IX_HELPER_ASLEEP;
    if (atomic_compare_exchange_strong(&ix_helper.state, &asleep, IX_HELPER_AWAKE))
        syscall(SYS_futex, &ix_helper.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* What is opened between the question and the sleep is seen by its thread, which finds it asleep:
 * each of the two stores first, and then looks at what the other has stored. */
static void sleep_until_needed(void)
{
    atomic_store(&ix_helper.state, IX_HELPER_ASLEEP);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load(&ix_helper.state) == IX_HELPER_ASLEEP) {
        if (atomic_load(&helper.stopping) || helper.options.is_needed()) {
            int32_t asleep = IX_HELPER_ASLEEP;
            atomic_compare_exchange_strong(&ix_helper.state, &asleep, IX_HELPER_AWAKE);
            return;
        }
        sleep_while(IX_HELPER_ASLEEP, 0);
    }
}

static void begin_look(void)
{
    pthread_mutex_lock(&helper.look);
    atomic_store(&ix_helper.looking, 1);
}

static void end_look(void)
{
    atomic_store(&ix_helper.looking, 0);
    pthread_mutex_unlock(&helper.look);
}

/* A thread of the program that enters a call: mostly the look is over before a context switch. */
void ix_helper_await(void)
{
    atomic_fetch_add_explicit(&helper.waits, 1, memory_order_relaxed);
    for (int i = 0; i < 2000 && atomic_load(&ix_helper.looking); i++)
#ifdef __x86_64__
        __builtin_ia32_pause();
#else
        atomic_thread_fence(memory_order_seq_cst);
#endif
    if (atomic_load(&ix_helper.looking)) {
        pthread_mutex_lock(&helper.look);
        pthread_mutex_unlock(&helper.look);
    }
}

/* One look, unless the program is inside MPI; what it took, -1 where there was none. */
static int64_t look_once(void)
{
    int64_t took = -1;
    begin_look();
    if (!atomic_load(&ix_helper.inside) && !atomic_load(&helper.stopping)) {
        int64_t before = processor_ns();
        helper.counts.failed = helper.options.look();
        took = processor_ns() - before;
        helper.counts.looks++;
    }
    end_look();
    return took;
}

/* Looks for as long as they move data. */
static void take_a_turn(void)
{
    ix_pace *pace = &helper.options.pace;
    int64_t began = processor_ns(), moving = 0;
    int moved = 0, looked = 0;
    for (int i = 0; i < MOST_LOOKS && !helper.counts.failed; i++) {
        int64_t took = look_once();
        if (took < 0)
            break;
        looked = 1;
        if (!ix_pace_looked(pace, took))
            break;
        moved = 1;
        moving += took;
        helper.counts.moving_looks++;
        if (helper.options.moved)
            helper.options.moved(took);
    }
    int64_t turn = processor_ns() - began;
    helper.counts.moving_ns += moving;
    helper.counts.looking_ns += turn - moving;
    if (looked)
        ix_pace_turned(pace, moved, turn);
}

static void *run(void *unused)
{
    if (helper.options.begins)
        helper.options.begins();
    ix_pace *pace = &helper.options.pace;
    while (!atomic_load(&helper.stopping) && !helper.counts.failed) {
        if (helper.options.is_needed()) {
            sleep_while(IX_HELPER_AWAKE, pace->interval_ns);
            if (!atomic_load(&ix_helper.inside) && helper.options.is_needed())
                take_a_turn();
            continue;
        }
        int64_t rest = ix_pace_episode_over(pace);
        if (rest) {
            helper.counts.rests++;
            sleep_while(IX_HELPER_AWAKE, rest);
        } else {
            sleep_until_needed();
        }
    }
    helper.counts.interval_ns = pace->interval_ns;
    atomic_store(&ix_helper.state, IX_HELPER_ENDING); /* nobody wakes it any more */
    return unused;
}

/* The child of a fork has no helper, and finds no lock held that it might need: it may end by exit,
 * which runs the library's destructors. */

static void before_fork(void)
{
    pthread_mutex_lock(&helper.look);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&helper.look);
}

static void in_child(void)
{
    pthread_mutex_unlock(&helper.look);
    atomic_store(&ix_helper.state, IX_HELPER_AWAY);
    atomic_store(&ix_helper.looking, 0);
    helper.has_thread = 0;
}

static int create(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    if (helper.options.cores)
        pthread_attr_setaffinity_np(&attributes, sizeof(cpu_set_t), helper.options.cores);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&helper.thread, &attributes, run, NULL);
    if (error == EINVAL) { /* cores that were taken away meanwhile */
        pthread_attr_destroy(&attributes);
        pthread_attr_init(&attributes);
        error = pthread_create(&helper.thread, &attributes, run, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(helper.thread, "imbrex-progress");
    return error;
}

int ix_helper_start(const ix_helper_options *options)
{
    if (helper.has_thread)
        return EBUSY;
    helper.options = *options;
    helper.counts = (ix_helper_counts){0};
    atomic_store(&helper.stopping, 0);
    atomic_store(&helper.waits, 0);
    if (!helper.has_fork_handlers)
        helper.has_fork_handlers = pthread_atfork(before_fork, after_fork, in_child) == 0;
    atomic_store(&ix_helper.state, IX_HELPER_AWAKE);
    int error = create();
    helper.has_thread = error == 0;
    if (error)
        atomic_store(&ix_helper.state, IX_HELPER_AWAY);
    return error;
}

void ix_helper_stop(void)
{
    if (!helper.has_thread)
        return;
    atomic_store(&helper.stopping, 1);
    set_state(IX_HELPER_ENDING);
    pthread_join(helper.thread, NULL);
    atomic_store(&ix_helper.state, IX_HELPER_AWAY);
    helper.has_thread = 0;
}

void ix_helper_halt(int most_ms)
{
    if (!helper.has_thread)
        return;
    atomic_store(&helper.stopping, 1);
    for (int i = 0; i < most_ms && atomic_load(&ix_helper.looking); i++)
        usleep(1000);
}

ix_helper_counts ix_helper_counted(void)
{
    ix_helper_counts counts = helper.counts;
    counts.waits = atomic_load(&helper.waits);
    return counts;
}
