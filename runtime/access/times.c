#include "times.h"

#include "access.h"
#include "watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERVALS = 1 << 15, KINDS = 1 << 12, LENGTHS = 15 };

/* One interval of computation: its place on the clock of accesses and on the clean clock. */
typedef struct {
    uint64_t from, to;
    double start_ns, length_ns;
} interval_t;

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
int ixa_inside;

static interval_t intervals[INTERVALS];
static kind_t kinds[KINDS];
static uint64_t previous_call, interval_from;
static int64_t interval_start_ns, poll_start_ns;
static int in_vain;
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

void ixa_start(int rank)
{
    const char *what = getenv("IMBREX_ACCESS");
    ixa_directory = getenv("IMBREX_ACCESS_DIR");
    if (!what || !ixa_directory || ixa_mode != IXA_OFF)
        return;
    ixa_rank = rank;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/times.%d.bin", ixa_directory, rank);
    int clean = strcmp(what, "clean") == 0;
    file = fopen(path, clean ? "wb" : "rb");
    if (!file) {
        fprintf(stderr, "imbrex: rank %d: %s cannot be opened; nothing is recorded\n", rank, path);
        return;
    }
    ixa_mode = clean ? IXA_CLEAN : IXA_RECORD;
    if (clean)
        ixa_watch_start();
    ixa_inside = 1;
    ixa_exit();
}

int ixa_outermost(void)
{
    return ixa_mode != IXA_OFF && ixa_inside == 1;
}

static void enter_at(int64_t now_ns, const char *function, const void *site)
{
    double length = (double)(now_ns - interval_start_ns);
    uint32_t id = hash(function);
    if (ixa_mode == IXA_CLEAN) {
        uint64_t call = (uint64_t)id * 0x9e3779b97f4a7c15u ^ (uintptr_t)site;
        int hits = ixa_watch_interval(interval_start_ns, now_ns);
        length = undisturbed((previous_call * 31 + call) | 1, length, hits);
        previous_call = call;
        ixa_now_ns += length;
        if (hits)
            ixa_watch_ended(ixa_now_ns - length, ixa_now_ns);
        clean_t entry = {id, (float)length};
        if (fwrite(&entry, sizeof entry, 1, file) != 1)
            ixa_diverged_at = (int64_t)ixa_intervals;
        ixa_intervals++;
        return;
    }
    clean_t entry;
    if (file && fread(&entry, sizeof entry, 1, file) == 1 && entry.function == id) {
        length = entry.length_ns;
    } else if (file) {
        ixa_diverged_at = (int64_t)ixa_intervals;
        fclose(file);
        file = NULL;
    }
    intervals[ixa_intervals++ % INTERVALS] =
        (interval_t){interval_from, ixa_clock, ixa_now_ns, length};
    ixa_now_ns += length;
}

void ixa_enter(const char *function, const void *site)
{
    if (ixa_mode != IXA_OFF && ixa_inside++ == 0)
        enter_at(ixa_clock_ns(), function, site);
}

void ixa_poll(void)
{
    if (ixa_mode != IXA_OFF && ixa_inside++ == 0)
        poll_start_ns = ixa_clock_ns();
}

void ixa_polled(int found, const char *function, const void *site)
{
    if (ixa_mode == IXA_OFF || ixa_inside > 1)
        return;
    if (found)
        enter_at(poll_start_ns, function, site);
    else
        in_vain = 1;
}

void ixa_exit(void)
{
    if (ixa_mode == IXA_OFF || --ixa_inside > 0)
        return;
    if (in_vain) {
        /* As if it had not been: how often a program polls differs from run to run. */
        interval_start_ns += ixa_clock_ns() - poll_start_ns;
        in_vain = 0;
        return;
    }
    interval_from = ixa_clock;
    if (ixa_mode == IXA_CLEAN)
        ixa_watch_resume();
    interval_start_ns = ixa_clock_ns();
}

int ixa_time_of(uint64_t clock, double *ns)
{
    uint64_t low = ixa_intervals > INTERVALS ? ixa_intervals - INTERVALS : 0;
    uint64_t oldest = low, high = ixa_intervals;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (intervals[middle % INTERVALS].to < clock)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ixa_intervals)
        return 0;
    const interval_t *at = &intervals[low % INTERVALS];
    if (clock <= at->from) {
        /* No access lies between two intervals; before the oldest everything is forgotten. */
        if (low == oldest && oldest > 0)
            return 0;
        *ns = at->start_ns;
        return 1;
    }
    *ns = at->start_ns + at->length_ns * (double)(clock - at->from) / (double)(at->to - at->from);
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
