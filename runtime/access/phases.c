#include "access/phases.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>

#include "access/access.h"
#include "access/intervals.h"
#include "access/observer.h"
#include "access/timeline.h"
#include "core/engine.h"

enum phase { WARM, PLAIN, RECORDED, MEASURED };

enum { WARM_ROUNDS = 2, ROUNDS = 10 };

/* Rounds up to the end of each phase. */
static uint32_t ends[MEASURED];

int ixa_phases;

static enum phase phase;
static uint32_t rounds;
static int *plain; /* the program's, which its functions ask */
static const ixa_site_t *sites;
static size_t site_count;
static const void **first_at; /* by number of the site: the lowest address of its place */

static uint64_t intervals[MEASURED];
static double recorded_ns;
static double unknown_ns; /* of recorded intervals that plain code has not passed */
static uint32_t unknown;
static double still; /* accesses that plain code records in intervals as the recorded ones */

static __thread int64_t left_ns, computed_ns;

static int by_address(const void *a, const void *b)
{
    const void *x = ((const ixa_site_t *)a)->address, *y = ((const ixa_site_t *)b)->address;
    return (x > y) - (x < y);
}

int ixa_phases_start(void)
{
    ixa_sites_t *known = dlsym(RTLD_DEFAULT, "imbrex_access_sites");
    const char *text = getenv("IMBREX_ACCESS_ROUNDS");
    unsigned long each = text ? strtoul(text, NULL, 10) : 0;
    plain = dlsym(RTLD_DEFAULT, "imbrex_access_plain");
    if (!plain || !known || known->begin == known->end) {
        fprintf(stderr, "imbrex: the program has no plain code beside the recorded one; build it "
                        "with imbrex cc --duplicate\n");
        return 0;
    }
    each = each && each < 1u << 30 ? each : ROUNDS;
    for (uint32_t i = 0; i < MEASURED; i++)
        ends[i] = WARM_ROUNDS + i * (uint32_t)each;
    site_count = (size_t)(known->end - known->begin);
    first_at = malloc(site_count * sizeof *first_at);
    if (!first_at)
        return 0;
    qsort(known->begin, site_count, sizeof *known->begin, by_address);
    sites = known->begin;
    for (size_t i = 0; i < site_count; i++) {
        size_t first = 0;
        while (sites[first].place != sites[i].place)
            first++;
        first_at[i] = sites[first].address;
    }
    return ixa_phases = 1;
}

void ixa_phases_begin(void)
{
    if (ixa_phases)
        ix_pause();
}

void ixa_phases_next(void)
{
    if (!ixa_phases || phase == MEASURED || rounds < ends[phase])
        return;
    phase++;
    *plain = phase != RECORDED;
    if (phase == RECORDED)
        ixa_times_record();
    if (phase == MEASURED) {
        ixa_end_recording();
        ix_resume();
    }
}

int ixa_phases_end(void)
{
    return phase >= RECORDED;
}

void ixa_phases_entered(ix_thread *t)
{
    if (left_ns)
        computed_ns += t->last_ns - left_ns;
}

void ixa_phases_left(ix_thread *t)
{
    left_ns = t->last_ns;
}

int64_t ixa_computed_ns(void)
{
    return computed_ns;
}

const void *ixa_place_of(const void *site)
{
    const ixa_site_t key = {.address = site};
    if (!ixa_phases)
        return site;
    const ixa_site_t *found = bsearch(&key, sites, site_count, sizeof *sites, by_address);
    return found ? first_at[found - sites] : site;
}

/* Both keys of an interval: by its calls alone, and with the buffers. */
static uint64_t with_buffers(uint64_t key, uint64_t buffers)
{
    return (key * 0x9e3779b97f4a7c15u ^ buffers) | 1;
}

/* Where buffers are others in every round, so many passes of the calls alone are one. */
enum { CALLS_A_ROUND = 64 };

static void count_round(uint64_t key, uint64_t buffers, double length_ns)
{
    uint32_t calls = ixa_interval_seen(key, length_ns) / CALLS_A_ROUND;
    uint32_t same = ixa_interval_seen(with_buffers(key, buffers), length_ns);
    uint32_t seen = same > calls ? same : calls;
    if (seen > rounds)
        rounds = seen;
}

void ixa_before_recording(uint64_t key, uint64_t buffers, double length_ns, uint64_t accesses)
{
    count_round(key, buffers, phase == PLAIN ? length_ns : -1);
    intervals[phase]++;
    if (phase == PLAIN) {
        ixa_interval_accessed(with_buffers(key, buffers), accesses);
        ixa_interval_accessed(key, accesses);
    }
}

double ixa_plain_length(uint64_t key, uint64_t buffers, double length_ns)
{
    /* Round by round, and no mean of all: in which steps one rank is slower than the other decides
     * what messages add to the run. */
    uint64_t like = with_buffers(key, buffers);
    double known = ixa_interval_next(like);
    if (known < 0)
        known = ixa_interval_next(like = key);
    still += ixa_interval_accesses(like);
    count_round(key, buffers, -1);
    intervals[RECORDED]++;
    recorded_ns += known < 0 ? length_ns : known;
    if (known >= 0)
        return known;
    unknown++;
    unknown_ns += length_ns;
    return length_ns;
}

void ixa_phases_write(FILE *file)
{
    if (!ixa_phases)
        return;
    fprintf(file,
            ", \"recorded\": {\"before\": %" PRIu64 ", \"intervals\": %" PRIu64
            ", \"ns\": %.1f, \"untimed\": %u, \"untimed_ns\": %.1f, \"still\": %.1f}",
            intervals[WARM] + intervals[PLAIN], intervals[RECORDED], recorded_ns, unknown,
            unknown_ns, still);
}
