#include "access/timeline.h"

#include "access/intervals.h"
#include "access/messages.h"
#include "access/phases.h"
#include "access/sample.h"
#include "access/trace.h"
#include "access/watch.h"
#include "generated/operations.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERVALS = 1 << 15, TIMELINES = 64 };

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

/* What a timeline keeps to itself. */
typedef struct ixa_history {
    interval_t intervals[INTERVALS];
    span_t *spans[IXA_THREADS];
    uint64_t from[IXA_THREADS];
    uint64_t previous_call, previous_buffers; /* the call before, and what it moved */
    int64_t compute_before_ns;                /* of the thread, when the interval began */
    FILE *file;
} history_t;

enum ixa_mode ixa_mode;
const char *ixa_directory;
int ixa_rank;
ixa_timeline_t *ixa_timeline;

static ixa_timeline_t timelines[TIMELINES];
static int timeline_count;
static int64_t interval_start_ns; /* of the first timeline, on the clock of the watchpoint */

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

/* Each thread that calls MPI has a time line and a file of its own. */

/* times.RANK.bin, and times.RANK.THREAD.bin of further threads. */
static FILE *open_times(int number)
{
    char path[PATH_MAX];
    if (number == 0)
        snprintf(path, sizeof path, "%s/times.%d.bin", ixa_directory, ixa_rank);
    else
        snprintf(path, sizeof path, "%s/times.%d.%d.bin", ixa_directory, ixa_rank, number);
    FILE *file = fopen(path, ixa_mode == IXA_CLEAN ? "wb" : "rb");
    if (!file)
        fprintf(stderr, "imbrex: rank %d: %s cannot be opened; nothing is recorded\n", ixa_rank,
                path);
    return file;
}

/* Both runs must give a thread the same number: OpenMP's where it has one, else in the order in
 * which threads come. */
static int number_of_new_thread(void)
{
    int (*of_openmp)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
    int number = of_openmp ? of_openmp() : 0;
    int taken[TIMELINES] = {0};
    for (int i = 0; i < timeline_count; i++)
        taken[timelines[i].number] = 1;
    if (number > 0 && number < TIMELINES && !taken[number])
        return number;
    for (number = 1; number < TIMELINES && taken[number]; number++)
        ;
    return number;
}

static ixa_timeline_t *new_timeline(const ix_thread *t, int number)
{
    ixa_timeline_t *line = &timelines[timeline_count];
    *line = (ixa_timeline_t){.thread = t, .number = number, .diverged_at = -1};
    line->history = calloc(1, sizeof *line->history);
    if (line->history && !ixa_phases)
        line->history->file = open_times(number);
    /* One that cannot be followed is known as such, so that the next call does not try again. */
    if (line->history && !line->history->file && !ixa_phases) {
        free(line->history);
        line->history = NULL;
    }
    timeline_count++;
    return line;
}

ixa_timeline_t *ixa_timeline_of(const ix_thread *t)
{
    ixa_timeline_t *line = NULL;
    for (int i = 0; i < timeline_count && !line; i++)
        if (timelines[i].thread == t)
            line = &timelines[i];
    if (!line && timeline_count < TIMELINES) {
        line = new_timeline(t, number_of_new_thread());
        if (line->history) {
            line->history->compute_before_ns = ixa_phases ? ixa_computed_ns() : t->compute_ns;
            if (ixa_mode != IXA_CLEAN)
                ixa_memory->clocks(line->history->from);
        }
    }
    return line && line->history ? line : NULL;
}

int ixa_timelines(void)
{
    return timeline_count;
}

ixa_timeline_t *ixa_timeline_at(int number)
{
    return &timelines[number];
}

int ixa_times_start(int rank)
{
    const char *mode = getenv("IMBREX_ACCESS");
    ixa_directory = getenv("IMBREX_ACCESS_DIR");
    if (!mode || !ixa_directory || ixa_mode != IXA_OFF)
        return 0;
    ixa_rank = rank;
    ixa_mode = strcmp(mode, "clean") == 0 ? IXA_CLEAN : IXA_RECORD;
    if (strcmp(mode, "switched") == 0 && ixa_phases_start())
        ixa_mode = IXA_PREPARE;
    ixa_timeline = new_timeline(ix_current(), 0);
    if (!ixa_timeline->history) {
        ixa_mode = IXA_OFF;
        return 0;
    }
    const char *watch = getenv("IMBREX_ACCESS_WATCH");
    if (ixa_mode == IXA_CLEAN) {
        if (!watch || strcmp(watch, "off") != 0)
            ixa_watch_start();
    } else if (ixa_mode == IXA_RECORD) {
        ixa_sample_start(ixa_timeline->history->file, sizeof(clean_t));
    }
    return 1;
}

void ixa_times_begin(void)
{
    const ix_thread *t = ix_current();
    if (t)
        ixa_timeline->history->compute_before_ns =
            ixa_phases ? 0 : t->compute_ns + (t->muted ? 0 : ix_now() - t->last_ns);
    ixa_times_exit();
}

/* The watchpoint is the first thread's. */
static int is_watched(void)
{
    return ixa_timeline->number == 0 && ixa_watch_busy();
}

/* Intervals between the same two calls. */
static uint64_t interval_key(const history_t *own, uint64_t call)
{
    return (own->previous_call * 31 + call) | 1;
}

static uint64_t call_at(const char *function, const void *site)
{
    return (uint64_t)hash(function) * 0x9e3779b97f4a7c15u ^ (uintptr_t)site;
}

static void enter_clean(const char *function, const void *site, double length)
{
    uint32_t id = hash(function);
    uint64_t call = call_at(function, site);
    history_t *own = ixa_timeline->history;
    int hits = is_watched() ? ixa_watch_interval(interval_start_ns, ixa_clock_ns()) : 0;
    if (ixa_timeline->number == 0)
        length = ixa_undisturbed(interval_key(own, call), length, hits);
    own->previous_call = call;
    ixa_timeline->now_ns += length;
    if (hits)
        ixa_watch_ended(ixa_timeline->now_ns - length, ixa_timeline->now_ns);
    clean_t entry = {id, (float)length};
    if (fwrite(&entry, sizeof entry, 1, own->file) != 1)
        ixa_timeline->diverged_at = (int64_t)ixa_timeline->intervals;
    ixa_timeline->intervals++;
}

/* The interval's accesses: those of the thread that made most. */
static uint64_t count_accesses(void)
{
    history_t *own = ixa_timeline->history;
    uint64_t counts[IXA_THREADS], most = 0, slot = ixa_timeline->intervals % INTERVALS;
    int threads = ixa_memory->clocks(counts);
    for (int i = 0; i < threads; i++) {
        if (!own->spans[i]) {
            own->spans[i] = calloc(INTERVALS, sizeof *own->spans[i]);
            if (!own->spans[i])
                continue;
        }
        own->spans[i][slot] = (span_t){own->from[i], counts[i]};
        if (counts[i] - own->from[i] > most)
            most = counts[i] - own->from[i];
    }
    return most;
}

/* Nothing is recorded yet, but what plain code takes between the same two calls. */
static void enter_before(const char *function, const void *site, double length)
{
    history_t *own = ixa_timeline->history;
    uint64_t call = call_at(function, site);
    if (ixa_timeline->number == 0)
        ixa_before_recording(interval_key(own, call), own->previous_buffers, length,
                             count_accesses());
    own->previous_call = call;
    own->previous_buffers = 0;
}

static void enter_recorded(const char *function, const void *site, double length)
{
    history_t *own = ixa_timeline->history;
    clean_t entry;
    if (ixa_phases && ixa_timeline->number == 0) {
        uint64_t call = call_at(function, site);
        length = ixa_plain_length(interval_key(own, call), own->previous_buffers, length);
        own->previous_call = call;
        own->previous_buffers = 0;
    }
    if (own->file && fread(&entry, sizeof entry, 1, own->file) == 1 &&
        entry.function == hash(function)) {
        length = entry.length_ns;
    } else if (own->file) {
        ixa_timeline->diverged_at = (int64_t)ixa_timeline->intervals;
        ixa_timeline->diverged_in = function;
        ixa_timeline->diverged_site = site;
        fclose(own->file);
        own->file = NULL;
    }
    if (ixa_timeline->number == 0)
        ixa_trace(IXA_TRACE_CALL, hash(function), length);
    uint64_t accesses = count_accesses();
    own->intervals[ixa_timeline->intervals++ % INTERVALS] =
        (interval_t){ixa_timeline->position, accesses, ixa_timeline->now_ns, length};
    ixa_timeline->now_ns += length;
    ixa_timeline->position += accesses;
}

void ixa_times_moves(uint64_t buffer)
{
    history_t *own = ixa_timeline->history;
    own->previous_buffers = (own->previous_buffers ^ buffer) * 0x9e3779b97f4a7c15u;
}

void ixa_times_enter(int64_t compute_ns, uint32_t operation, const void *site)
{
    history_t *own = ixa_timeline->history;
    if (ixa_phases)
        compute_ns = ixa_computed_ns();
    double length = (double)(compute_ns - own->compute_before_ns);
    own->compute_before_ns = compute_ns;
    /* Another thread may have the place of one that has ended. */
    if (length < 0)
        length = 0;
    if (ixa_mode == IXA_CLEAN)
        enter_clean(ix_operation_names[operation], site, length);
    else if (ixa_mode == IXA_PREPARE)
        enter_before(ix_operation_names[operation], site, length);
    else
        enter_recorded(ix_operation_names[operation], site, length);
}

void ixa_times_exit(void)
{
    if (ixa_mode != IXA_CLEAN) {
        ixa_memory->clocks(ixa_timeline->history->from);
        return;
    }
    if (ixa_timeline->number == 0)
        ixa_watch_resume();
    if (is_watched())
        interval_start_ns = ixa_clock_ns();
}

/* As if it had not been: how often a program polls differs from run to run. */
void ixa_times_in_vain(const ix_thread *t)
{
    if (ixa_timeline->number == 0)
        interval_start_ns += ix_now() - t->last_ns;
}

/* The interval in which the thread's count reached `clock`, or ixa_timeline->intervals. */
static uint64_t interval_of(const span_t *span, uint64_t clock, uint64_t oldest)
{
    uint64_t low = oldest, high = ixa_timeline->intervals;
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
    const history_t *history = ixa_timeline->history;
    const span_t *span = history->spans[stamp >> IXA_STAMP_BITS];
    uint64_t clock = stamp & IXA_STAMP_CLOCK;
    uint64_t oldest = ixa_timeline->intervals > INTERVALS ? ixa_timeline->intervals - INTERVALS : 0;
    uint64_t found = span ? interval_of(span, clock, oldest) : ixa_timeline->intervals;
    if (found == ixa_timeline->intervals)
        return 0;
    const interval_t *at = &history->intervals[found % INTERVALS];
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

void ixa_times_record(void)
{
    ixa_mode = IXA_RECORD;
    for (int i = 0; i < timeline_count; i++)
        if (timelines[i].history)
            ixa_memory->clocks(timelines[i].history->from);
}

void ixa_times_finish(void)
{
    for (int i = 0; i < timeline_count; i++) {
        ixa_timeline_t *line = &timelines[i];
        FILE *file = line->history ? line->history->file : NULL;
        if (file && ixa_mode == IXA_RECORD && !ixa_sample_has_ended() && fgetc(file) != EOF)
            line->diverged_at = (int64_t)line->intervals;
        if (file)
            fclose(file);
        if (line->history)
            line->history->file = NULL;
    }
}
