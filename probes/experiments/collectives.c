/* Blocking collectives on the launched ranks: the longest of the ranks' times, after a barrier; and
 * how much of an all-to-all has left before the last rank enters. */
#include "engine/pace.h"
#include "engine/stats.h"
#include "engine/work.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

typedef struct buffers {
    MPI_Comm comm;
    int ranks;
    char *in, *out;
    char *whole_in, *whole_out; /* `room` bytes each, of which `in` and `out` are a part */
    size_t room;
    int *counts;
} buffers;

/* Memory that a processor's caches do not hold: a program's buffers are mostly as cold. */
static size_t cold_bytes(const engine *e)
{
    return e->quick ? (size_t)16 << 20 : (size_t)64 << 20;
}

/* `block` is the number of doubles that a rank contributes (to each partner, where partners get
 * different data). */
static void bcast(const buffers *b, int block)
{
    MPI_Bcast(b->in, block, MPI_DOUBLE, 0, b->comm);
}
static void reduce(const buffers *b, int block)
{
    MPI_Reduce(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, 0, b->comm);
}
static void allreduce(const buffers *b, int block)
{
    MPI_Allreduce(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, b->comm);
}
static void scan(const buffers *b, int block)
{
    MPI_Scan(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, b->comm);
}
static void exscan(const buffers *b, int block)
{
    MPI_Exscan(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, b->comm);
}
static void gather(const buffers *b, int block)
{
    MPI_Gather(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, 0, b->comm);
}
static void scatter(const buffers *b, int block)
{
    MPI_Scatter(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, 0, b->comm);
}
static void allgather(const buffers *b, int block)
{
    MPI_Allgather(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, b->comm);
}
static void alltoall(const buffers *b, int block)
{
    MPI_Alltoall(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, b->comm);
}
static void reduce_scatter(const buffers *b, int block)
{
    for (int r = 0; r < b->ranks; r++)
        b->counts[r] = block;
    MPI_Reduce_scatter(b->in, b->out, b->counts, MPI_DOUBLE, MPI_SUM, b->comm);
}

static const struct {
    const char *name;
    void (*call)(const buffers *b, int block);
    int blocks; /* the largest buffer holds one block per rank */
    int apart;  /* it is also entered apart */
} operations[] = {
    {"MPI_Bcast", bcast, 0, 0},         {"MPI_Reduce", reduce, 0, 0},
    {"MPI_Allreduce", allreduce, 0, 0}, {"MPI_Scan", scan, 0, 0},
    {"MPI_Exscan", exscan, 0, 0},       {"MPI_Gather", gather, 1, 0},
    {"MPI_Scatter", scatter, 1, 0},     {"MPI_Allgather", allgather, 1, 0},
    {"MPI_Alltoall", alltoall, 1, 1},   {"MPI_Reduce_scatter", reduce_scatter, 1, 0},
};
enum { operation_count = sizeof operations / sizeof operations[0] };

/* Every other repetition finds its buffers in the caches, the others where the repetition longest
 * ago had them. */
static void choose_buffers(buffers *b, size_t bytes, int repetition)
{
    const size_t stride = (bytes + 4095) / 4096 * 4096, slots = b->room / stride;
    const size_t slot =
        repetition % 2 && slots > 1 ? 1 + (size_t)(repetition / 2) % (slots - 1) : 0;
    b->in = b->whole_in + slot * stride;
    b->out = b->whole_out + slot * stride;
}

/* What follows a measurement: larger sizes too; other operations alone, because this size took so
 * long; nothing, because the time is over. */
enum { all_sizes, no_larger, no_more };

/* On a busy machine the time may be over with the first operation: all are measured at their
 * smallest size even then, as long as that takes no more than a tenth of the time limit. */
static int in_grace(const engine *e)
{
    const int64_t end_ns = e->begin_ns > e->end_ns ? e->begin_ns : e->end_ns;
    return now_ns() < end_ns + e->grace_ns;
}

/* Nanoseconds that a repetition takes with its barrier, which is most of the time where ranks share
 * cores: the smaller of two, as one that was disturbed would leave few repetitions. */
static double pilot(const buffers *b, int op, int block)
{
    double shortest = 0;
    for (int i = 0; i < 3; i++) { /* the first is cold */
        const int64_t begin = now_ns();
        MPI_Barrier(b->comm);
        operations[op].call(b, block);
        const double took = (double)(now_ns() - begin);
        if (i && (i == 1 || took < shortest))
            shortest = took;
    }
    return shortest;
}

/* The 95th percentile of the quieter half: the other may have shared its core with somebody. */
static double high_of(double *longest, int count)
{
    samples s = {longest, (size_t)count, (size_t)count};
    double high = samples_quantile(&s, 0.95);
    for (int half = 0; half < 2 && count >= 16; half++) {
        const size_t n = (size_t)count / 2;
        const samples part = {longest + (size_t)half * n, n, n};
        const double q = samples_quantile(&part, 0.95);
        high = q < high ? q : high;
    }
    return high;
}

static struct {
    char *bytes;
    size_t count;
} overwritten;

enum { first_value = 1, second_value = 2 };

/* On time, while its rank waits in MPI. */
static void overwrite(int signal)
{
    (void)signal;
    memset(overwritten.bytes, second_value, overwritten.count);
}

/* 0: not any more. */
static void overwrite_in(double ns)
{
    const long us = (long)(ns / 1000);
    const struct itimerval once = {.it_value = {us / 1000000, us % 1000000}};
    setitimer(ITIMER_REAL, &once, NULL);
}

/* How many bytes of what other ranks gave hold the value of before. */
static size_t taken_before(const buffers *b, int rank, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes * (size_t)b->ranks; i++)
        count += i / bytes != (size_t)rank && b->out[i] != second_value;
    return count;
}

/* The last rank comes when all others wait in MPI and have overwritten, from a handler of a signal,
 * what they give. What arrives of it as it was before had left without the last rank: its median.
 */
static void measure_apart(engine *e, buffers *b, int op, int block, const char *path,
                          double whole_ns)
{
    enum { count = 7 };
    const size_t bytes = sizeof(double) * (size_t)block, largest = bytes * (size_t)b->ranks;
    const double before_ns = 50000 + whole_ns, away_ns = 2 * before_ns + 0.5 * (double)largest;
    const struct sigaction handler = {.sa_handler = overwrite, .sa_flags = SA_RESTART};
    struct sigaction former;
    double taken[count];
    int rank;
    MPI_Comm_rank(b->comm, &rank);
    choose_buffers(b, largest, 0);
    overwritten.bytes = b->in;
    overwritten.count = largest;
    sigaction(SIGALRM, &handler, &former);
    for (int i = 0; i < count; i++) {
        memset(b->in, first_value, largest);
        MPI_Barrier(b->comm);
        if (rank == b->ranks - 1)
            work(registers, units_of(registers, away_ns));
        else
            overwrite_in(before_ns);
        operations[op].call(b, block);
        taken[i] = (double)taken_before(b, rank, bytes);
        overwrite_in(0); /* it may not have been time yet */
    }
    sigaction(SIGALRM, &former, NULL);
    MPI_Bcast(taken, count, MPI_DOUBLE, b->ranks - 1, b->comm);
    samples s = {taken, count, count};
    if (e->rank == 0)
        row(e, "apart %s %d %s %zu %d %.0f", operations[op].name, b->ranks, path, bytes, count,
            samples_quantile(&s, 0.5));
}

static int measure(engine *e, buffers *b, int op, int block, const char *path, double slice_s)
{
    enum { least = 8, few = 32, most = 400, rounds = 3 };
    const size_t bytes = sizeof(double) * (size_t)block;
    const size_t largest = operations[op].blocks ? bytes * (size_t)b->ranks : bytes;
    choose_buffers(b, largest, 0);
    int count = (int)(slice_s / (1e-9 * pilot(b, op, block) + 1e-6));
    count = count < least ? least : count > most ? most : count;
    MPI_Bcast(&count, 1, MPI_INT, 0, b->comm);
    double mine[most], longest[most];
    double shortest = 0, median = 0, high = 0;
    int again = 1;
    for (int round = 0; again; round++) {
        for (int i = 0; i < count; i++) {
            choose_buffers(b, largest, i);
            MPI_Barrier(b->comm);
            const int64_t begin = now_ns();
            operations[op].call(b, block);
            mine[i] = (double)(now_ns() - begin);
        }
        MPI_Reduce(mine, longest, count, MPI_DOUBLE, MPI_MAX, 0, b->comm);
        if (e->rank == 0) {
            samples s = {longest, (size_t)count, (size_t)count};
            const double lowest = samples_quantile(&s, 0), middle = samples_quantile(&s, 0.5);
            const double now = high_of(longest, count);
            shortest = round && shortest < lowest ? shortest : lowest;
            const int better = !round || now < high;
            const double before = high;
            high = better ? now : high;
            median = better ? middle : median;
            /* Few repetitions have no quantile that one disturbed sample cannot be: the quietest
             * of up to three rounds counts, unless it is calm or another round found the same. */
            const int calm = high <= 2 * shortest;
            const int same = round && (better ? before : now) <= 1.1 * high;
            again = count < few && round + 1 < rounds && !calm && !same && !out_of_time(e);
        }
        MPI_Bcast(&again, 1, MPI_INT, 0, b->comm);
    }
    MPI_Bcast(&median, 1, MPI_DOUBLE, 0, b->comm);
    if (operations[op].apart)
        measure_apart(e, b, op, block, path, median);
    int next = all_sizes;
    if (e->rank == 0) {
        row(e, "collective %s %d %s %zu %zu %d %.0f %.0f %.0f", operations[op].name, b->ranks, path,
            bytes, largest, count, shortest, median, high);
        if (median > 2e9 * e->slice_s)
            next = no_larger;
        if (out_of_time(e))
            next = in_grace(e) ? no_larger : no_more;
    }
    MPI_Bcast(&next, 1, MPI_INT, 0, b->comm);
    return next;
}

static void on_communicator(engine *e, MPI_Comm comm, const char *path, int last)
{
    buffers b = {.comm = comm};
    size_t most_bytes = e->quick ? (size_t)4 << 20 : (size_t)16 << 20;
    if (most_bytes > e->max_bytes)
        most_bytes = e->max_bytes;
    MPI_Comm_size(comm, &b.ranks);
    b.counts = malloc((size_t)b.ranks * sizeof *b.counts);
    b.room = most_bytes + 8 * (size_t)b.ranks;
    if (b.room < cold_bytes(e) && cold_bytes(e) <= 2 * e->max_bytes)
        b.room = cold_bytes(e);
    b.in = b.whole_in = touched(b.room);
    b.out = b.whole_out = touched(b.room);
    int next = all_sizes, sizes = 1;
    for (size_t bytes = 8; bytes < most_bytes; bytes *= e->quick ? 16 : 8)
        sizes++;
    for (int op = 0; op < operation_count && b.counts && next != no_more; op++) {
        size_t bytes = 8;
        for (int more = 1; more;) {
            const size_t block = bytes / 8 / (operations[op].blocks ? (size_t)b.ranks : 1);
            const double slice_s = last ? slice_of(e, sizes * (operation_count - op)) : e->slice_s;
            next = block > 0 ? measure(e, &b, op, (int)block, path, slice_s) : all_sizes;
            more = next == all_sizes && bytes < most_bytes;
            bytes *= e->quick ? 16 : 8;
            if (bytes > most_bytes)
                bytes = most_bytes;
        }
        if (last)
            report_progress(e, "collectives", (op + 1.0) / operation_count);
    }
    free(b.counts);
    free(b.whole_in);
    free(b.whole_out);
}

/* Communicators of the first 2, 4, 8, ... ranks and of all; when quick, of 2 and of all. */
void run_collectives(engine *e)
{
    if (e->ranks < 2)
        return;
    for (int ranks = 2; ranks; ranks = ranks == e->ranks ? 0 : e->quick ? e->ranks : 2 * ranks) {
        if (ranks > e->ranks)
            ranks = e->ranks;
        MPI_Comm part;
        MPI_Comm_split(e->control, e->rank < ranks ? 0 : MPI_UNDEFINED, e->rank, &part);
        if (part != MPI_COMM_NULL) {
            int inter = 0;
            for (int r = 0; r < ranks; r++)
                inter |= e->node_of[r] != e->node_of[0];
            on_communicator(e, part, inter ? "inter-node" : "intra-node", ranks == e->ranks);
            MPI_Comm_free(&part);
        }
        sleepy_barrier(e->control);
    }
}
