#define _GNU_SOURCE
#include "job/clocks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { TAG_SHARE = 7001, TAG_COMPARE = 7002, TAG_REPLY = 7003, TAG_LINE = 7004 };

/* Round trips of a comparison: enough that one of them meets no disturbance, and no more when the
 * best has long been found. */
enum { LEAST_TRIPS = 20, MOST_TRIPS = 200, TRIPS_WITHOUT_GAIN = 30 };

static struct {
    int rank, ranks;
    int *clock_of;     /* by world rank: the number of its clock; NULL: nothing is known */
    int *leader_of;    /* by number of a clock: the lowest rank that reads it */
    int64_t *error_of; /* by number of a clock: of its line */
    int clocks;
    ix_clock_point begin;
    ix_clock_line line;
    int64_t cost_ns;
    int is_over; /* the processes that read the clocks are gone */
} job;

/* For tests: "AHEAD_NS,PPM": the clock of rank r is r times as much ahead and as much too fast,
 * and no two ranks share one. */
static int distorted(void)
{
    const char *wish = getenv("IMBREX_TEST_CLOCK");
    double ahead_ns = 0, ppm = 0;
    if (!wish || sscanf(wish, "%lf,%lf", &ahead_ns, &ppm) != 2)
        return 0;
    ix_clock_distort((int64_t)(ahead_ns * job.rank), ppm * 1e-6 * job.rank);
    return 1;
}

/* Where the table of clocks by key has this key, or room for it. */
static size_t place_of(const uint64_t *keys, const int *table, size_t mask, uint64_t key)
{
    size_t place = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (table[place] >= 0 && keys[job.leader_of[table[place]]] != key)
        place = (place + 1) & mask;
    return place;
}

/* Number the clocks in the order of the lowest rank that reads each. */
static int number_clocks(const uint64_t *keys)
{
    size_t room = 2;
    while (room < 2 * (size_t)job.ranks)
        room *= 2;
    int *table = malloc(sizeof *table * room);
    job.clock_of = malloc(sizeof *job.clock_of * (size_t)job.ranks);
    job.leader_of = malloc(sizeof *job.leader_of * (size_t)job.ranks);
    int fine = table && job.clock_of && job.leader_of;
    for (size_t i = 0; fine && i < room; i++)
        table[i] = -1;
    job.clocks = 0;
    for (int i = 0; fine && i < job.ranks; i++) {
        size_t place = place_of(keys, table, room - 1, keys[i]);
        if (table[place] < 0) {
            table[place] = job.clocks;
            job.leader_of[job.clocks++] = i;
        }
        job.clock_of[i] = table[place];
    }
    free(table);
    return fine;
}

static int my_clock(void)
{
    return job.clock_of[job.rank];
}

static int leads(void)
{
    return job.leader_of[my_clock()] == job.rank;
}

/* Processes that read one counter, but calibrated it each for itself, differ by some 20 parts in a
 * million: all take the leader's calibration. */
static int share_calibration(MPI_Comm all)
{
    uint64_t reading[2] = {ix_the_clock.origin, ix_the_clock.multiplier};
    const int leader = job.leader_of[my_clock()];
    if (job.rank != leader) {
        if (PMPI_Recv(reading, 2, MPI_UINT64_T, leader, TAG_SHARE, all, MPI_STATUS_IGNORE))
            return 0;
        ix_clock_adopt(reading[0], reading[1]);
        return 1;
    }
    for (int i = leader + 1; i < job.ranks; i++)
        if (job.clock_of[i] == my_clock() && PMPI_Send(reading, 2, MPI_UINT64_T, i, TAG_SHARE, all))
            return 0;
    return 1;
}

/* This clock against that of rank `reference`, which runs serve(). */
static ix_clock_point compare(MPI_Comm all, int reference)
{
    ix_clock_point best = {.error_ns = IX_CLOCK_UNKNOWN};
    int since_gain = 0;
    for (int i = 0;; i++) {
        int more = i < LEAST_TRIPS || (i < MOST_TRIPS && since_gain < TRIPS_WITHOUT_GAIN);
        int64_t there_ns = 0, sent_ns = ix_now();
        if (PMPI_Send(&more, 1, MPI_INT, reference, TAG_COMPARE, all))
            return (ix_clock_point){.error_ns = IX_CLOCK_UNKNOWN};
        if (!more)
            return best;
        if (PMPI_Recv(&there_ns, 1, MPI_INT64_T, reference, TAG_REPLY, all, MPI_STATUS_IGNORE))
            return (ix_clock_point){.error_ns = IX_CLOCK_UNKNOWN};
        ix_clock_point point = ix_clock_compared(sent_ns, there_ns, ix_now());
        since_gain++;
        if (point.error_ns < best.error_ns) {
            best = point;
            since_gain = 0;
        }
    }
}

static void serve(MPI_Comm all, int asker)
{
    for (int more = 1;;) {
        if (PMPI_Recv(&more, 1, MPI_INT, asker, TAG_COMPARE, all, MPI_STATUS_IGNORE) || !more)
            return;
        int64_t now_ns = ix_now();
        if (PMPI_Send(&now_ns, 1, MPI_INT64_T, asker, TAG_REPLY, all))
            return;
    }
}

/* The clocks form a binomial tree: the parent of a number is the number without its highest bit. */
static int highest_bit(int number)
{
    int bit = 1;
    while (bit <= number / 2)
        bit *= 2;
    return bit;
}

static int parent_of(int clock)
{
    return job.leader_of[clock - highest_bit(clock)];
}

static int first_child_bit(int clock)
{
    return clock ? 2 * highest_bit(clock) : 1;
}

/* Each leader asks its parent, then answers its children: two clocks at a time are compared, so
 * that nobody else's message lies between, and all is done in one round a level. */
static ix_clock_point compare_leaders(MPI_Comm all)
{
    const int clock = my_clock();
    int64_t now_ns = ix_now();
    ix_clock_point mine = {now_ns, now_ns, 0};
    if (clock)
        mine = compare(all, parent_of(clock));
    for (int bit = first_child_bit(clock); clock + bit < job.clocks; bit *= 2)
        serve(all, job.leader_of[clock + bit]);
    return mine;
}

/* From the parent's line to the own one, and on to the children and to those that share this
 * clock. */
static void chain_lines(MPI_Comm all, ix_clock_point end)
{
    const int bytes = (int)sizeof job.line, clock = my_clock(), leader = job.leader_of[clock];
    job.line = ix_clock_same();
    if (job.clocks == 1)
        return;
    if (!leads()) {
        if (PMPI_Recv(&job.line, bytes, MPI_BYTE, leader, TAG_LINE, all, MPI_STATUS_IGNORE))
            job.line.error_ns = IX_CLOCK_UNKNOWN;
        return;
    }
    if (clock) {
        ix_clock_line parent = {.error_ns = IX_CLOCK_UNKNOWN};
        PMPI_Recv(&parent, bytes, MPI_BYTE, parent_of(clock), TAG_LINE, all, MPI_STATUS_IGNORE);
        job.line = ix_clock_chain(ix_clock_through(job.begin, end), parent);
    }
    for (int bit = first_child_bit(clock); clock + bit < job.clocks; bit *= 2)
        PMPI_Send(&job.line, bytes, MPI_BYTE, job.leader_of[clock + bit], TAG_LINE, all);
    for (int i = leader + 1; i < job.ranks; i++)
        if (job.clock_of[i] == clock)
            PMPI_Send(&job.line, bytes, MPI_BYTE, i, TAG_LINE, all);
}

void ix_clocks_begin(MPI_Comm all, int64_t (*ns)(void))
{
    PMPI_Comm_rank(all, &job.rank);
    PMPI_Comm_size(all, &job.ranks);
    ix_clock_start(ns);
    uint64_t key = distorted() ? (uint64_t)job.rank + 1 : ix_clock_identity();
    uint64_t *keys = malloc(sizeof *keys * (size_t)job.ranks);
    int fine = keys != NULL, all_fine = 0;
    PMPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, all);
    if (all_fine) {
        fine = PMPI_Allgather(&key, 1, MPI_UINT64_T, keys, 1, MPI_UINT64_T, all) == MPI_SUCCESS &&
               number_clocks(keys);
        PMPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, all);
    }
    free(keys);
    if (!all_fine || !share_calibration(all)) {
        ix_clocks_free();
        return;
    }
    int64_t began_ns = ix_now();
    if (job.clocks > 1 && leads())
        job.begin = compare_leaders(all);
    chain_lines(all, job.begin); /* at the rate 1 as yet */
    job.cost_ns = ix_now() - began_ns;
}

/* The error of each clock, on every rank. */
static void gather_errors(MPI_Comm all)
{
    job.error_of = malloc(sizeof *job.error_of * (size_t)job.clocks);
    int fine = job.error_of != NULL, all_fine = 0;
    PMPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, all);
    if (!all_fine) {
        free(job.error_of);
        job.error_of = NULL;
        return;
    }
    for (int i = 0; i < job.clocks; i++)
        job.error_of[i] = i == my_clock() ? job.line.error_ns : 0;
    if (PMPI_Allreduce(MPI_IN_PLACE, job.error_of, job.clocks, MPI_INT64_T, MPI_MAX, all)) {
        free(job.error_of);
        job.error_of = NULL;
    }
}

void ix_clocks_end(MPI_Comm all)
{
    if (!job.clock_of || job.is_over)
        return;
    int64_t began_ns = ix_now();
    ix_clock_point end = {0};
    if (job.clocks > 1 && leads())
        end = compare_leaders(all);
    chain_lines(all, end);
    gather_errors(all);
    job.cost_ns += ix_now() - began_ns;
}

int64_t ix_common_ns(int64_t local_ns)
{
    return ix_clock_read(&job.line, local_ns);
}

int64_t ix_local_ns(int64_t common_ns)
{
    return ix_clock_unread(&job.line, common_ns);
}

int64_t ix_clock_error_ns(int peer)
{
    if (!job.error_of || peer < 0 || peer >= job.ranks)
        return IX_CLOCK_UNKNOWN;
    const int mine = my_clock(), theirs = job.clock_of[peer];
    if (mine == theirs)
        return 0;
    if (job.error_of[mine] == IX_CLOCK_UNKNOWN || job.error_of[theirs] == IX_CLOCK_UNKNOWN)
        return IX_CLOCK_UNKNOWN;
    return job.error_of[mine] + job.error_of[theirs];
}

int64_t ix_clocks_largest_error_ns(void)
{
    int64_t largest_ns = job.error_of ? 0 : IX_CLOCK_UNKNOWN;
    for (int i = 0; job.error_of && i < job.clocks; i++)
        if (job.error_of[i] > largest_ns)
            largest_ns = job.error_of[i];
    return largest_ns;
}

int ix_clocks_count(void)
{
    return job.clocks;
}

int ix_clock_number(void)
{
    return job.clock_of ? my_clock() : -1;
}

int ix_clocks_of_parts(int rank, int ranks, const uint32_t *numbers, int64_t local_ns,
                       int64_t common_ns)
{
    job.is_over = 1;
    job.rank = rank;
    job.ranks = ranks;
    job.clocks = 2 * ranks; /* those that are not known are nobody else's */
    job.clock_of = malloc(sizeof *job.clock_of * (size_t)ranks);
    job.error_of = malloc(sizeof *job.error_of * (size_t)job.clocks);
    job.line = (ix_clock_line){local_ns, common_ns, 0, IX_CLOCK_UNKNOWN};
    if (!job.clock_of || !job.error_of) {
        ix_clocks_free();
        return -1;
    }
    for (int i = 0; i < ranks; i++) {
        int known = numbers[i] > 0 && numbers[i] <= (uint32_t)ranks;
        job.clock_of[i] = known ? (int)numbers[i] - 1 : ranks + i;
    }
    for (int i = 0; i < job.clocks; i++)
        job.error_of[i] = IX_CLOCK_UNKNOWN;
    return 0;
}

int64_t ix_clocks_cost_ns(void)
{
    return job.cost_ns;
}

void ix_clocks_free(void)
{
    free(job.clock_of);
    free(job.leader_of);
    free(job.error_of);
    job.clock_of = job.leader_of = NULL;
    job.error_of = NULL;
    job.clocks = 0;
}
