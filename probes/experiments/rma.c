/* Transfer times of one-sided operations, closed by a flush while the target waits inside MPI: one
 * at a time, and many until one flush, which gives the smallest gap per byte. On memory that the
 * library allocated and on the program's own, which may take different ways. */
#include "engine/engine.h"
#include "engine/stats.h"

#include <math.h>
#include <stdlib.h>

enum { in_flight = 16 };

typedef struct place {
    engine *e;
    const char *path;
    MPI_Comm comm; /* origin is rank 0 */
    int target;
    MPI_Win window;
    char *local;
    int64_t end_ns; /* when to begin nothing more: not every job uses these operations */
} place;

static void put(const place *at, int doubles)
{
    MPI_Put(at->local, doubles, MPI_DOUBLE, at->target, 0, doubles, MPI_DOUBLE, at->window);
}
static void get(const place *at, int doubles)
{
    MPI_Get(at->local, doubles, MPI_DOUBLE, at->target, 0, doubles, MPI_DOUBLE, at->window);
}
static void accumulate(const place *at, int doubles)
{
    MPI_Accumulate(at->local, doubles, MPI_DOUBLE, at->target, 0, doubles, MPI_DOUBLE, MPI_SUM,
                   at->window);
}
static void get_accumulate(const place *at, int doubles)
{
    MPI_Get_accumulate(at->local, doubles, MPI_DOUBLE, at->local + doubles * (int)sizeof(double),
                       doubles, MPI_DOUBLE, at->target, 0, doubles, MPI_DOUBLE, MPI_SUM,
                       at->window);
}

static const struct {
    const char *name;
    void (*call)(const place *at, int doubles);
} operations[] = {{"MPI_Put", put},
                  {"MPI_Get", get},
                  {"MPI_Accumulate", accumulate},
                  {"MPI_Get_accumulate", get_accumulate}};
enum { operation_count = sizeof operations / sizeof operations[0] };

static double timed(const place *at, int op, int doubles, int count)
{
    const int64_t begin = now_ns();
    for (int i = 0; i < count; i++)
        operations[op].call(at, doubles);
    MPI_Win_flush(at->target, at->window);
    return (double)(now_ns() - begin);
}

/* What passes after the origin's buffer is free until the data has arrived. */
static double left_after_local(const place *at, int op, int doubles)
{
    operations[op].call(at, doubles);
    MPI_Win_flush_local(at->target, at->window);
    const int64_t begin = now_ns();
    MPI_Win_flush(at->target, at->window);
    return (double)(now_ns() - begin);
}

/* The 95th percentile; the other half may have shared its core with somebody. */
static double high_of_quieter_half(const samples *s)
{
    const size_t n = s->count / 2;
    const samples first = {s->values, n, n}, second = {s->values + n, n, n};
    const double a = samples_quantile(&first, 0.95), b = samples_quantile(&second, 0.95);
    return a < b ? a : b;
}

/* At the origin. Nanoseconds of one operation, about. */
static double measure(const place *at, int op, size_t size)
{
    enum { warm_up = 3, alone_per_round = 4, least_rounds = 2, some_rounds = 8, most_rounds = 500 };
    samples alone = {0}, batched = {0}, left = {0};
    const int doubles = (int)(size / sizeof(double));
    double pilot = 0;
    for (int i = 0; i < warm_up; i++)
        pilot = timed(at, op, doubles, 1);
    const double slice = at->e->slice_s * 1e9;
    const int many = pilot * in_flight < slice ? in_flight : 1;
    const int64_t begin = now_ns();
    for (int round = 0; round < most_rounds; round++) {
        const double spent = (double)(now_ns() - begin);
        const double limit = round < some_rounds ? 2 * slice : 0.25 * slice;
        if (round >= least_rounds && spent > limit)
            break;
        for (int i = 0; i < alone_per_round; i++)
            samples_add(&alone, timed(at, op, doubles, 1));
        for (int i = 0; i < alone_per_round / 2; i++)
            samples_add(&left, left_after_local(at, op, doubles));
        samples_add(&batched, timed(at, op, doubles, many) / many);
    }
    row(at->e, "rma %s %s %zu %zu %.0f %.0f %.0f %.0f %.0f", operations[op].name, at->path, size,
        alone.count, samples_quantile(&alone, 0), samples_quantile(&alone, 0.5),
        high_of_quieter_half(&alone), samples_quantile(&batched, 0), high_of_quieter_half(&left));
    samples_free(&left);
    samples_free(&alone);
    samples_free(&batched);
    return pilot;
}

static void on_window(place *at, int allocated, size_t most)
{
    int rank, failed;
    void *memory = NULL;
    MPI_Comm_rank(at->comm, &rank);
    MPI_Comm_set_errhandler(at->comm, MPI_ERRORS_RETURN);
    if (allocated) {
        failed = MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, at->comm, &memory, &at->window);
    } else {
        memory = touched(most);
        failed = MPI_Win_create(memory, (MPI_Aint)most, 1, MPI_INFO_NULL, at->comm, &at->window);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, at->comm);
    if (!failed) {
        MPI_Win_lock_all(0, at->window);
        const int64_t slices = now_ns() + (int64_t)(20e9 * at->e->slice_s);
        at->end_ns = slices < at->e->end_ns ? slices : at->e->end_ns;
        double longest = 0; /* of one operation: larger ones of a slow network are left out */
        for (size_t size = 8; size <= most && rank == 0 && longest < 0.5e9 * at->e->slice_s;
             size *= 16)
            for (int op = 0; op < operation_count && now_ns() < at->end_ns; op++)
                longest = fmax(longest, measure(at, op, size));
        MPI_Barrier(at->comm);
        MPI_Win_unlock_all(at->window);
        MPI_Win_free(&at->window);
    }
    if (!allocated)
        free(memory);
}

static void on_both_windows(place *at)
{
    const size_t most = at->e->quick ? (size_t)1 << 19 : (size_t)1 << 23;
    at->local = touched(2 * most);
    for (int allocated = 0; allocated < 2; allocated++)
        on_window(at, allocated, most);
    free(at->local);
}

static void on_pair(engine *e, const pair *p)
{
    const int ranks[2] = {p->leader, p->partner};
    MPI_Group all, both;
    place at = {.e = e, .path = path_name(p), .target = 1};
    MPI_Comm_group(e->data, &all);
    MPI_Group_incl(all, 2, ranks, &both);
    MPI_Comm_create_group(e->data, both, 110, &at.comm);
    on_both_windows(&at);
    MPI_Comm_free(&at.comm);
    MPI_Group_free(&both);
    MPI_Group_free(&all);
}

void run_rma(engine *e)
{
    if (e->rank == 0) {
        place at = {.e = e, .path = "self", .target = 0};
        MPI_Comm_dup(MPI_COMM_SELF, &at.comm);
        on_both_windows(&at);
        MPI_Comm_free(&at.comm);
    }
    sleepy_barrier(e->control);
    report_progress(e, "rma", 0.3);
    for_first_pairs(e, on_pair);
}
