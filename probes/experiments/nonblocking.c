/* Nonblocking collectives, and the persistent ones of MPI 4, with work between start and wait: how
 * much of their time is left for the wait. */
#include "engine/pace.h"
#include "engine/stats.h"
#include "engine/work.h"

#include <stdlib.h>

typedef struct buffers {
    MPI_Comm comm;
    int ranks;
    char *in, *out;
    int *counts, *displacements;
} buffers;

/* `block` doubles per rank; where partners get different data, per partner. */
static void bcast(const buffers *b, int block, MPI_Request *r)
{
    MPI_Ibcast(b->in, block, MPI_DOUBLE, 0, b->comm, r);
}
static void reduce(const buffers *b, int block, MPI_Request *r)
{
    MPI_Ireduce(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, 0, b->comm, r);
}
static void allreduce(const buffers *b, int block, MPI_Request *r)
{
    MPI_Iallreduce(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, b->comm, r);
}
static void gather(const buffers *b, int block, MPI_Request *r)
{
    MPI_Igather(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, 0, b->comm, r);
}
static void scatter(const buffers *b, int block, MPI_Request *r)
{
    MPI_Iscatter(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, 0, b->comm, r);
}
static void allgather(const buffers *b, int block, MPI_Request *r)
{
    MPI_Iallgather(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, b->comm, r);
}
static void alltoall(const buffers *b, int block, MPI_Request *r)
{
    MPI_Ialltoall(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, b->comm, r);
}
static void alltoallv(const buffers *b, int block, MPI_Request *r)
{
    for (int i = 0; i < b->ranks; i++) {
        b->counts[i] = block;
        b->displacements[i] = i * block;
    }
    MPI_Ialltoallv(b->in, b->counts, b->displacements, MPI_DOUBLE, b->out, b->counts,
                   b->displacements, MPI_DOUBLE, b->comm, r);
}

static void barrier(const buffers *b, int block, MPI_Request *r)
{
    (void)block;
    MPI_Ibarrier(b->comm, r);
}

#if MPI_VERSION >= 4
static void bcast_init(const buffers *b, int block, MPI_Request *r)
{
    MPI_Bcast_init(b->in, block, MPI_DOUBLE, 0, b->comm, MPI_INFO_NULL, r);
}
static void allreduce_init(const buffers *b, int block, MPI_Request *r)
{
    MPI_Allreduce_init(b->in, b->out, block, MPI_DOUBLE, MPI_SUM, b->comm, MPI_INFO_NULL, r);
}
static void alltoall_init(const buffers *b, int block, MPI_Request *r)
{
    MPI_Alltoall_init(b->in, block, MPI_DOUBLE, b->out, block, MPI_DOUBLE, b->comm, MPI_INFO_NULL,
                      r);
}
#endif

enum kind { plain, blocks = 1, empty = 2, persistent_one = 4 };

static const struct {
    const char *name;
    void (*start)(const buffers *b, int block, MPI_Request *r);
    /* blocks: the largest buffer holds one block per rank; empty: moves no data; persistent_one:
     * `start` makes a request that MPI_Start starts. */
    int kind;
} operations[] = {
    {"MPI_Ibcast", bcast, plain},
    {"MPI_Ireduce", reduce, plain},
    {"MPI_Iallreduce", allreduce, plain},
    {"MPI_Igather", gather, blocks},
    {"MPI_Iscatter", scatter, blocks},
    {"MPI_Iallgather", allgather, blocks},
    {"MPI_Ialltoall", alltoall, blocks},
    {"MPI_Ialltoallv", alltoallv, blocks},
    {"MPI_Ibarrier", barrier, empty},
#if MPI_VERSION >= 4
    {"MPI_Bcast_init", bcast_init, persistent_one},
    {"MPI_Allreduce_init", allreduce_init, persistent_one},
    {"MPI_Alltoall_init", alltoall_init, persistent_one | blocks},
#endif
};
enum { operation_count = sizeof operations / sizeof operations[0] };

/* One collective; times of the rank in which MPI took longest: whole, and inside start and wait. */
static void once(const buffers *b, int op, int block, double work_ns, int tests, double *whole_ns,
                 double *inside_ns)
{
    const int64_t units = units_of(registers, work_ns), parts = tests + 1;
    const int again = operations[op].kind & persistent_one;
    MPI_Request request;
    int done = 0;
    if (again)
        operations[op].start(b, block, &request);
    MPI_Barrier(b->comm);
    const int64_t begin = now_ns();
    if (again)
        MPI_Start(&request);
    else
        operations[op].start(b, block, &request);
    const int64_t started = now_ns();
    for (int64_t i = 0; i < parts; i++) {
        work(registers, units * (i + 1) / parts - units * i / parts);
        if (i + 1 < parts && !done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    const int64_t wait = now_ns();
    if (!done)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int64_t end = now_ns();
    if (again)
        MPI_Request_free(&request);
    const double mine[2] = {(double)(end - begin), (double)(started - begin + end - wait)};
    double longest[2];
    MPI_Allreduce(mine, longest, 2, MPI_DOUBLE, MPI_MAX, b->comm);
    *whole_ns = longest[0];
    *inside_ns = longest[1];
}

/* Nanoseconds of the operation alone; the same at all ranks. */
static double measure(engine *e, const buffers *b, int op, size_t bytes, const char *path,
                      int count)
{
    const int block = (int)(bytes / 8 / (operations[op].kind & blocks ? (size_t)b->ranks : 1));
    samples pure = {0}, whole = {0}, inside = {0};
    double w, i;
    for (int k = 0; k < count; k++) {
        once(b, op, block, 0, 0, &w, &i);
        samples_add(&pure, w);
    }
    const double pure_ns = samples_quantile(&pure, 0.25);
    for (int tests = 0; tests <= 100; tests += 100) {
        samples_clear(&whole);
        samples_clear(&inside);
        for (int k = 0; k < count; k++) {
            once(b, op, block, 2 * pure_ns, tests, &w, &i);
            samples_add(&whole, w);
            samples_add(&inside, i);
            if (e->rank == 0)
                row(e, "nonblocking %s %d %s %zu %d %.0f %.0f %.0f %.0f", operations[op].name,
                    b->ranks, path, bytes, tests, pure_ns, 2 * pure_ns, w, i);
        }
    }
    samples_free(&pure);
    samples_free(&whole);
    samples_free(&inside);
    return pure_ns;
}

void run_nonblocking(engine *e)
{
    const size_t wanted = e->quick ? (size_t)1 << 20 : (size_t)8 << 20;
    const size_t most = e->max_bytes < wanted ? e->max_bytes : wanted;
    buffers b = {.comm = e->control, .ranks = e->ranks};
    const size_t factor = e->quick ? 32 : 8;
    int inter = 0, sizes = 0;
    double measured = 0;
    if (e->ranks < 2)
        return;
    for (int r = 0; r < e->ranks; r++)
        inter |= e->node_of[r] != e->node_of[0];
    b.in = touched(most);
    b.out = touched(most);
    b.counts = (int *)touched((size_t)e->ranks * sizeof(int));
    b.displacements = (int *)touched((size_t)e->ranks * sizeof(int));
    for (size_t bytes = 1024; bytes <= most; bytes *= factor)
        sizes++;
    for (int op = 0; op < operation_count; op++) {
        int more = 1;
        const size_t largest = operations[op].kind & empty ? 1024 : most;
        for (size_t bytes = 1024; bytes <= largest && more; bytes *= factor) {
            const int count = common_affordable(e, measured / operation_count, e->quick ? 7 : 15,
                                                e->quick ? 5 : 9);
            const double pure_ns = measure(e, &b, op, (operations[op].kind & empty) ? 0 : bytes,
                                           inter ? "inter-node" : "intra-node", count);
            measured += (operations[op].kind & empty) ? 1 : 1.0 / sizes;
            /* Alone, and twice with work of twice its time, of this operation and of the others. */
            more = common_to_go_on(e, 1,
                                   7.0 * count * (operation_count - op) * (double)factor * pure_ns);
        }
        report_progress(e, "nonblocking", measured / operation_count);
    }
    free(b.in);
    free(b.out);
    free(b.counts);
    free(b.displacements);
}
