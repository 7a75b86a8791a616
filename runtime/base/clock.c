#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, clock_gettime, posix_fallocate under -std=c11 */
#endif
#include "base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ix_clock ix_the_clock;

static int64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t undistorted_ns(void)
{
    switch (ix_the_clock.kind) {
    case IX_CLOCK_MONOTONIC:
        return monotonic() - (int64_t)ix_the_clock.origin;
    case IX_CLOCK_FUNCTION:
        return ix_the_clock.function() - (int64_t)ix_the_clock.origin;
    default:
        return 0;
    }
}

int64_t ix_now_slow(void)
{
    int64_t ns = undistorted_ns();
    return ns + (int64_t)(ix_the_clock.excess * (double)ns) + ix_the_clock.ahead_ns;
}

#ifdef IX_HAVE_TICKS
/* Whether the kernel itself keeps time by the counter: then it is constant and the same on all
 * cores. */
static int counter_is_trusted(void)
{
    char name[32] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY);
    if (file < 0)
        return 0;
    ssize_t got = read(file, name, sizeof name - 1);
    close(file);
    return got > 0 && (!strncmp(name, "tsc", 3) || !strncmp(name, "arch_sys_counter", 16));
}

/* Ticks and ns at one moment: the pair with the quickest read around it. */
static void sample(uint64_t *ticks, int64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t before = ix_ticks();
        int64_t now = monotonic();
        uint64_t after = ix_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks = before + (after - before) / 2;
            *ns = now;
        }
    }
}

static int calibrate(void)
{
    uint64_t ticks0 = 0, ticks1 = 0;
    int64_t ns0 = 0, ns1 = 0;
    sample(&ticks0, &ns0);
    while (monotonic() - ns0 < 2000000)
        ;
    sample(&ticks1, &ns1);
    if (ticks1 <= ticks0 || ns1 <= ns0)
        return 0;
    unsigned __int128 multiplier =
        ((unsigned __int128)(uint64_t)(ns1 - ns0) << 64) / (ticks1 - ticks0);
    if (multiplier > UINT64_MAX) /* too slow a counter */
        return 0;
    ix_the_clock.multiplier = (uint64_t)multiplier;
    ix_the_clock.origin = ticks0;
    return ix_the_clock.multiplier != 0;
}
#endif

void ix_clock_start(int64_t (*ns)(void))
{
    ix_the_clock = (ix_clock){.kind = IX_CLOCK_NONE, .function = ns};
    if (ns) {
        ix_the_clock.origin = (uint64_t)ns();
        ix_the_clock.kind = IX_CLOCK_FUNCTION;
        return;
    }
#ifdef IX_HAVE_TICKS
    const char *wish = getenv("IMBREX_CLOCK");
    if (!(wish && !strcmp(wish, "monotonic")) && counter_is_trusted() && calibrate()) {
        ix_the_clock.kind = IX_CLOCK_TSC;
        return;
    }
#endif
    ix_the_clock.origin = (uint64_t)monotonic();
    ix_the_clock.kind = IX_CLOCK_MONOTONIC;
}

/* FNV-1a, over what a file holds. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    char text[256];
    int file = open(path, O_RDONLY);
    ssize_t got = file < 0 ? 0 : read(file, text, sizeof text);
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i < got; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* A counter belongs to a running kernel, CLOCK_MONOTONIC to a time namespace of it, a simulator's
 * function to the whole simulation. */
uint64_t ix_clock_identity(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)ix_the_clock.kind;
    if (ix_the_clock.kind == IX_CLOCK_FUNCTION)
        return hash;
    hash = hash_file(hash, "/proc/sys/kernel/random/boot_id");
    struct stat space;
    if (ix_the_clock.kind == IX_CLOCK_MONOTONIC && stat("/proc/self/ns/time", &space) == 0)
        hash = (hash ^ (uint64_t)space.st_ino) * UINT64_C(0x100000001b3);
    return hash;
}

void ix_clock_adopt(uint64_t origin, uint64_t multiplier)
{
    ix_the_clock.origin = origin;
    ix_the_clock.multiplier = multiplier;
}

void ix_clock_distort(int64_t ahead_ns, double excess)
{
    if (!ix_clock_is_counter()) {
        ix_the_clock.ahead_ns = ahead_ns;
        ix_the_clock.excess = excess;
        return;
    }
    double ticks_a_ns = 0x1p64 / (double)ix_the_clock.multiplier;
    ix_the_clock.origin -= (uint64_t)(int64_t)((double)ahead_ns * ticks_a_ns);
    ix_the_clock.multiplier = (uint64_t)((double)ix_the_clock.multiplier * (1 + excess));
}

const char *ix_clock_name(void)
{
    static const char *const names[] = {"none", "tsc", "monotonic", "function"};
    return names[ix_the_clock.kind];
}
