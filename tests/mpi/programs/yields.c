/* MPICH polls and never leaves its core. With more ranks than cores most polls are for what a rank
 * sends that has no core meanwhile: linked into a program, this leaves the core after polls that
 * found nothing. (Open MPI does so by itself where ranks are more than cores.)
 * Preloaded where TESTS_RUN_BESIDE is set, it lets a rank sleep instead, as nobody waits for it who
 * measures time: what polls takes no time from the tests that run beside. Open MPI calls
 * sched_yield after a poll that found nothing where its mpi_yield_when_idle says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EMPTY_POLLS = 20, SLEEP_NS = 20000 };

static int sleeps(void)
{
    static int known = -1;
    if (known < 0)
        known = getenv("TESTS_RUN_BESIDE") != NULL;
    return known;
}

int sched_yield(void)
{
    struct timespec t = {0, SLEEP_NS};
    return sleeps() ? nanosleep(&t, NULL) : (int)syscall(SYS_sched_yield);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    static int leaves;
    static __thread int empty;
    if (!next) {
        const char *ranks = getenv("PMI_SIZE");
        leaves = sleeps() || (ranks && atoi(ranks) > sysconf(_SC_NPROCESSORS_ONLN));
        void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (!found) /* a plugin of the program has loaded it, for itself */
            found = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
        next = (unsigned (*)(void *))found;
    }
    unsigned events = next(worker);
    if (events)
        empty = 0;
    else if (leaves && ++empty > EMPTY_POLLS)
        sched_yield();
    return events;
}
