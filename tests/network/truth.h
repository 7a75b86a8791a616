/* What the programs of the truth tests share. Rank R writes OUT.R, times in ns of CLOCK_REALTIME:
 * "message K BYTES FROM BEGIN", "call BEGIN END AWAY" of each of its calls, AWAY what the rank was
 * off its core meanwhile, "end NS". Between messages the network is quiet. */
#ifndef TRUTH_H
#define TRUTH_H

#include <imbrex/imbrex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 3000000 };
static int rank;
static char *buffer;
static FILE *out;
static unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

static long long clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long now_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

#define CALL(...)                                                                                  \
    do {                                                                                           \
        long long begin = now_ns(), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);                      \
        __VA_ARGS__;                                                                               \
        used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;                                           \
        long long end = now_ns();                                                                  \
        fprintf(out, "call %lld %lld %lld\n", begin, end, end - begin - used);                     \
    } while (0)

static void work(double ms)
{
    long long end = now_ns() + (long long)(ms * 1e6);
    volatile double x = 1;
    while (now_ns() < end)
        for (int i = 0; i < 1000; i++)
            x = x * 0.999999 + 1e-6;
}

static void quiet(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    struct timespec pause = {.tv_nsec = 40000000};
    nanosleep(&pause, NULL);
}

static void truth_start(int argc, char **argv)
{
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state = strtoull(argv[1], NULL, 10);
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    out = fopen(name, "w");
    buffer = calloc(1, MOST);
    if (!out || !buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void message_begin(int k, int bytes, int from)
{
    char name[32];
    quiet();
    fprintf(out, "message %d %d %d %lld\n", k, bytes, from, now_ns());
    snprintf(name, sizeof name, "m%d", k);
    imbrex_begin(name);
}

static void message_end(int k)
{
    char name[32];
    snprintf(name, sizeof name, "m%d", k);
    imbrex_end(name);
    struct timespec pause = {.tv_nsec = 60000000}; /* what was left behind leaves now */
    nanosleep(&pause, NULL);
    fprintf(out, "end %lld\n", now_ns());
}

#endif
