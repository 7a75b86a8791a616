#include "times.h"

#include "messages.h"
#include "operations.h"
#include "trace.h"
#include "watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERVALS = 1 << 15, KINDS = 1 << 12, LENGTHS = 15 };

/* One interval of computation: its place in the order of accesses and on the clean clock. */
typedef struct {
    uint64_t position, accesses;
    double start_ns, length_ns;
} interval_t;

/* What one thread had counted at its two ends. */
typedef struct {
    uint64_t from, to;
} span_t;

/* One entry of the clean run's file. */
typedef struct {
    uint32_t function;
    float length_ns;
} clean_t;

/* The last lengths of intervals between the same two calls that nothing disturbed. */
typedef struct {
    uint64_t key;
    uint32_t count;
    float lengths[LENGTHS];
} kind_t;

enum ixa_mode ixa_mode;
const char *ixa_directory;
int ixa_rank;
double ixa_now_ns;
uint64_t ixa_intervals;
int64_t ixa_diverged_at = -1;
const char *ixa_diverged_in;
const void *ixa_diverged_site;
uint64_t ixa_position;

static interval_t intervals[INTERVALS];
static span_t *spans[IXA_THREADS];
static uint64_t interval_from[IXA_THREADS];
static kind_t kinds[KINDS];
static uint64_t previous_call;
static int64_t compute_before_ns; /* of the thread, when the interval began */
static int64_t interval_start_ns; /* on the clock of the watchpoint */
static FILE *file;

int64_t ixa_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t hash(const char *text)
{
    uint32_t value = 2166136261u;
    while (*text)
        value = (value ^ (uint8_t)*text++) * 16777619u;
    return value;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* What an interval would have taken without the traps in it: the median of its like. */
static double undisturbed(uint64_t key, double length, int hits)
{
    kind_t *kind = NULL;
    for (uint64_t i = 0; i < 16 && !kind; i++) {
        kind_t *one = &kinds[(key + i) % KINDS];
        if (one->key == key || one->key == 0)
            kind = one;
    }
    if (!kind)
        return hits ? ixa_watch_without(length, hits) : length;
    kind->key = key;
    if (hits == 0) {
        kind->lengths[kind->count++ % LENGTHS] = (float)length;
        return length;
    }
    size_t count = kind->count < LENGTHS ? kind->count : LENGTHS;
    if (count == 0)
        return ixa_watch_without(length, hits);
    float sorted[LENGTHS];
    memcpy(sorted, kind->lengths, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted[count / 2];
}

int ixa_times_start(int rank)
{
    const char *what = getenv("IMBREX_ACCESS");
    ixa_directory = getenv("IMBREX_ACCESS_DIR");
    if (!what || !ixa_directory || ixa_mode != IXA_OFF)
        return 0;
    ixa_rank = rank;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/times.%d.bin", ixa_directory, rank);
    int clean = strcmp(what, "clean") == 0;
    file = fopen(path, clean ? "wb" : "rb");
    if (!file) {
        fprintf(stderr, "imbrex: rank %d: %s cannot be opened; nothing is recorded\n", rank, path);
        return 0;
    }
    ixa_mode = clean ? IXA_CLEAN : IXA_RECORD;
    if (clean)
        ixa_watch_start();
    return 1;
}

void ixa_times_begin(void)
{
    const ix_thread *t = ix_current();
    if (t)
        compute_before_ns = t->compute_ns + (t->muted ? 0 : ix_now() - t->last_ns);
    ixa_times_exit();
}

static void enter_clean(const char *function, const void *site, double length)
{
    uint32_t id = hash(function);
    uint64_t call = (uint64_t)id * 0x9e3779b97f4a7c15u ^ (uintptr_t)site;
    int hits = ixa_watch_busy() ? ixa_watch_interval(interval_start_ns, ixa_clock_ns()) : 0;
    length = undisturbed((previous_call * 31 + call) | 1, length, hits);
    previous_call = call;
    ixa_now_ns += length;
    if (hits)
        ixa_watch_ended(ixa_now_ns - length, ixa_now_ns);
    clean_t entry = {id, (float)length};
    if (fwrite(&entry, sizeof entry, 1, file) != 1)
        ixa_diverged_at = (int64_t)ixa_intervals;
    ixa_intervals++;
}

/* The interval's accesses: those of the thread that made most. */
static uint64_t count_accesses(void)
{
    uint64_t counts[IXA_THREADS], most = 0, slot = ixa_intervals % INTERVALS;
    int threads = ixa_memory->clocks(counts);
    for (int i = 0; i < threads; i++) {
        if (!spans[i]) {
            spans[i] = calloc(INTERVALS, sizeof *spans[i]);
            if (!spans[i])
                continue;
        }
        spans[i][slot] = (span_t){interval_from[i], counts[i]};
        if (counts[i] - interval_from[i] > most)
            most = counts[i] - interval_from[i];
    }
    return most;
}

static void enter_recorded(const char *function, const void *site, double length)
{
    clean_t entry;
    if (file && fread(&entry, sizeof entry, 1, file) == 1 && entry.function == hash(function)) {
        length = entry.length_ns;
    } else if (file) {
        ixa_diverged_at = (int64_t)ixa_intervals;
        ixa_diverged_in = function;
        ixa_diverged_site = site;
        fclose(file);
        file = NULL;
    }
    ixa_trace(IXA_TRACE_CALL, hash(function), length);
    uint64_t accesses = count_accesses();
    intervals[ixa_intervals++ % INTERVALS] =
        (interval_t){ixa_position, accesses, ixa_now_ns, length};
    ixa_now_ns += length;
    ixa_position += accesses;
}

void ixa_times_enter(int64_t compute_ns, uint32_t operation, const void *site)
{
    double length = (double)(compute_ns - compute_before_ns);
    compute_before_ns = compute_ns;
    if (ixa_mode == IXA_CLEAN)
        enter_clean(ix_operation_names[operation], site, length);
    else
        enter_recorded(ix_operation_names[operation], site, length);
}

void ixa_times_exit(void)
{
    if (ixa_mode == IXA_RECORD) {
        ixa_memory->clocks(interval_from);
        return;
    }
    ixa_watch_resume();
    if (ixa_watch_busy())
        interval_start_ns = ixa_clock_ns();
}

/* As if it had not been: how often a program polls differs from run to run. */
void ixa_times_in_vain(const ix_thread *t)
{
    interval_start_ns += ix_now() - t->last_ns;
}

/* The interval in which the thread's count reached `clock`, or ixa_intervals. */
static uint64_t interval_of(const span_t *span, uint64_t clock, uint64_t oldest)
{
    uint64_t low = oldest, high = ixa_intervals;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (span[middle % INTERVALS].to < clock)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int ixa_time_of(uint64_t stamp, uint64_t *position, double *ns)
{
    const span_t *span = spans[stamp >> IXA_STAMP_BITS];
    uint64_t clock = stamp & IXA_STAMP_CLOCK;
    uint64_t oldest = ixa_intervals > INTERVALS ? ixa_intervals - INTERVALS : 0;
    uint64_t found = span ? interval_of(span, clock, oldest) : ixa_intervals;
    if (found == ixa_intervals)
        return 0;
    const interval_t *at = &intervals[found % INTERVALS];
    const span_t *own = &span[found % INTERVALS];
    if (clock <= own->from) {
        /* No access lies between two intervals; before the oldest everything is forgotten. */
        if (found == oldest && oldest > 0)
            return 0;
        *position = at->position;
        *ns = at->start_ns;
        return 1;
    }
    double share = (double)(clock - own->from) / (double)(own->to - own->from);
    *position = at->position + (own->to - own->from == at->accesses
                                    ? clock - own->from
                                    : (uint64_t)(share * (double)at->accesses));
    *ns = at->start_ns + at->length_ns * share;
    return 1;
}

void ixa_times_finish(void)
{
    if (file && ixa_mode == IXA_RECORD && fgetc(file) != EOF)
        ixa_diverged_at = (int64_t)ixa_intervals;
    if (file)
        fclose(file);
    file = NULL;
}
