/* The clock: nanoseconds since ix_clock_start, from the time-stamp counter where the kernel trusts
 * it, else from CLOCK_MONOTONIC, or from a function (simulation, tests). */
#ifndef IMBREX_BASE_CLOCK_H
#define IMBREX_BASE_CLOCK_H

#include <stdint.h>

#include "base/attributes.h"

enum ix_clock_kind {
    IX_CLOCK_NONE = 0,
    IX_CLOCK_TSC = 1,
    IX_CLOCK_MONOTONIC = 2,
    IX_CLOCK_FUNCTION = 3
};

typedef struct ix_clock {
    uint64_t origin;     /* ticks at ns 0 */
    uint64_t multiplier; /* ns = (ticks - origin) * multiplier >> 64 */
    enum ix_clock_kind kind;
    int64_t (*function)(void);
    int64_t ahead_ns; /* how far it was put ahead, and made faster, for a test */
    double excess;
} ix_clock;

extern IX_HIDDEN ix_clock ix_the_clock;

/* Choose and calibrate. ix_start calls it if nobody did. `ns` != NULL: that function is the clock
 * (monotonic, ns; e.g. simgrid_get_clock() * 1e9). Otherwise reads
 * /sys/devices/system/clocksource/clocksource0/current_clocksource and spins for 2 ms.
 * IMBREX_CLOCK=monotonic in the environment keeps the counter unused. Calling it again starts anew.
 */
void ix_clock_start(int64_t (*ns)(void));

/* Names the hardware clock that this process reads: equal in two processes only where both read the
 * same one, so that they can share an origin and a rate. */
uint64_t ix_clock_identity(void);

/* Take over how another process with the same identity reads the clock. */
void ix_clock_adopt(uint64_t origin, uint64_t multiplier);

/* For tests: from now on this clock is `ahead_ns` ahead and runs faster by the share `excess`. */
void ix_clock_distort(int64_t ahead_ns, double excess);

/* Name of the clock in use: "tsc", "monotonic", "function". */
const char *ix_clock_name(void);

int64_t ix_now_slow(void);

/* The counter in fractions of its ticks, so that one of 125 MHz (x86-64: eighths) or 3.9 MHz
 * (aarch64: 256ths) or more has a multiplier below 2^64: the upper half of a product costs no more
 * than the multiplication, and eighths no more than putting the two halves of the counter together.
 * One of 5 GHz or 1 GHz counts for two years and more. */
#if defined(__x86_64__)
static inline IX_ALWAYS uint64_t ix_ticks(void)
{
    uint64_t low, high; /* each in the lower half of its register */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (high << 35) + low * 8;
}
#define IX_HAVE_TICKS 1
#elif defined(__aarch64__)
static inline IX_ALWAYS uint64_t ix_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks << 8;
}
#define IX_HAVE_TICKS 1
#endif

#ifdef IX_HAVE_TICKS
static inline int ix_clock_is_counter(void)
{
    return ix_the_clock.kind == IX_CLOCK_TSC;
}

/* ix_now, where the clock is the counter. */
static inline IX_ALWAYS int64_t ix_now_counter(void)
{
    uint64_t ticks = ix_ticks() - ix_the_clock.origin;
    return (int64_t)(uint64_t)((unsigned __int128)ticks * ix_the_clock.multiplier >> 64);
}
#else
static inline int ix_clock_is_counter(void)
{
    return 0;
}

static inline int64_t ix_now_counter(void)
{
    return ix_now_slow();
}
#endif

static inline IX_ALWAYS int64_t ix_now(void)
{
    return IX_LIKELY(ix_clock_is_counter()) ? ix_now_counter() : ix_now_slow();
}

#endif
