/* One-sided communication: what of a put or a get moves while the origin computes, the target,
 * both; closed by a fence, or by a flush with a passive target. The leader is the origin. */
#include "engine/exchange.h"
#include "engine/pace.h"
#include "engine/stats.h"

#include <stdlib.h>

static const struct {
    const char *name;
    int get, request, passive;
} operations[] = {
    {"MPI_Put/MPI_Win_fence", 0, 0, 0},  {"MPI_Get/MPI_Win_fence", 1, 0, 0},
    {"MPI_Put/MPI_Win_flush", 0, 0, 1},  {"MPI_Get/MPI_Win_flush", 1, 0, 1},
    {"MPI_Rput/MPI_Win_flush", 0, 1, 1}, {"MPI_Rget/MPI_Win_flush", 1, 1, 1},
};
enum { operation_count = sizeof operations / sizeof operations[0] };

/* Without the operation; without work; with work at the origin, the target, both. */
static const struct {
    const char *name;
    int operation, origin, target;
} situations[] = {
    {"empty", 0, 0, 0},           {"none-compute", 1, 0, 0}, {"origin-computes", 1, 1, 0},
    {"target-computes", 1, 0, 1}, {"both-compute", 1, 1, 1},
};
enum { situation_count = sizeof situations / sizeof situations[0] };

typedef struct epoch {
    const exchange_setting *s;
    MPI_Win window;
    int op, situation;
    size_t size;
} epoch;

static void start_operation(const epoch *x, MPI_Request *request)
{
    const int bytes = (int)x->size, target = 1;
    char *local = x->s->buffer;
    if (operations[x->op].request) {
        if (operations[x->op].get)
            MPI_Rget(local, bytes, MPI_CHAR, target, 0, bytes, MPI_CHAR, x->window, request);
        else
            MPI_Rput(local, bytes, MPI_CHAR, target, 0, bytes, MPI_CHAR, x->window, request);
    } else if (operations[x->op].get) {
        MPI_Get(local, bytes, MPI_CHAR, target, 0, bytes, MPI_CHAR, x->window);
    } else {
        MPI_Put(local, bytes, MPI_CHAR, target, 0, bytes, MPI_CHAR, x->window);
    }
}

static moments origin_part(const epoch *x, double work_ns)
{
    const int64_t start = agreed_start(x->s);
    MPI_Request request = MPI_REQUEST_NULL;
    moments m = {.valid = now_ns() < start};
    spin_until(start);
    m.enter = now_ns();
    if (situations[x->situation].operation)
        start_operation(x, &request);
    m.started = now_ns();
    work(registers, units_of(registers, work_ns));
    m.wait = now_ns();
    if (operations[x->op].passive) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(1, x->window);
    } else {
        MPI_Win_fence(0, x->window);
    }
    m.done = now_ns();
    m.enter -= start;
    m.started -= start;
    m.wait -= start;
    m.done -= start;
    return m;
}

/* A target that does not compute is inside MPI, where it may help the transfer along. */
static moments target_part(const epoch *x, double work_ns)
{
    const int tag = 107;
    const int64_t start = agreed_start(x->s);
    char token;
    moments m = {.valid = now_ns() < start};
    spin_until(start);
    m.enter = m.started = now_ns() - start;
    work(registers, units_of(registers, work_ns));
    m.wait = now_ns() - start;
    if (operations[x->op].passive)
        MPI_Recv(&token, 1, MPI_CHAR, x->s->p->leader, tag, x->s->e->control, MPI_STATUS_IGNORE);
    else
        MPI_Win_fence(0, x->window);
    m.done = now_ns() - start;
    return m;
}

/* Complete at the leader. */
static outcome once(const epoch *x, double work_ns)
{
    const int token_tag = 107, moments_tag = 108;
    const pair *p = x->s->p;
    engine *e = x->s->e;
    outcome o = {{0}, {0}};
    char token = 0;
    if (is_leader(e, p)) {
        o.sender = origin_part(x, situations[x->situation].origin ? work_ns : 0);
        if (operations[x->op].passive)
            MPI_Send(&token, 1, MPI_CHAR, p->partner, token_tag, e->control);
        MPI_Recv(&o.receiver, moments_words, MPI_INT64_T, p->partner, moments_tag, e->control,
                 MPI_STATUS_IGNORE);
    } else {
        o.receiver = target_part(x, situations[x->situation].target ? work_ns : 0);
        MPI_Send(&o.receiver, moments_words, MPI_INT64_T, p->leader, moments_tag, e->control);
    }
    return o;
}

static void print_once(const epoch *x, double work_ns, const outcome *o)
{
    const pair *p = x->s->p;
    row(x->s->e, "onesided %s %d %d %s %zu %s %.0f %lld %lld %lld %lld %lld %lld %lld",
        path_name(p), p->leader, p->partner, operations[x->op].name, x->size,
        situations[x->situation].name, work_ns, (long long)x->s->clocks.error_ns,
        (long long)o->sender.enter, (long long)o->sender.started, (long long)o->sender.wait,
        (long long)o->sender.done, (long long)o->receiver.wait, (long long)o->receiver.done);
}

/* How long the operation takes when nobody computes, nanoseconds; the same at both ranks. */
static double measure(epoch *x, double done)
{
    engine *e = x->s->e;
    const int count = agreed_affordable(e, x->s->p, done, e->quick ? 9 : 21, e->quick ? 5 : 9);
    samples time = {0};
    x->situation = 1;
    for (int i = 0; i < 5; i++) {
        const outcome o = once(x, 0);
        samples_add(&time, (double)(o.sender.done - o.sender.enter));
    }
    const double transfer_ns = (double)agree(e, x->s->p, (int64_t)samples_quantile(&time, 0.5));
    samples_free(&time);
    const double work_ns = 30000 + 3 * transfer_ns;
    for (x->situation = 0; x->situation < situation_count; x->situation++)
        for (int i = 0; i < count; i++) {
            const outcome o = once(x, work_ns);
            if (is_leader(e, x->s->p) && o.sender.valid && o.receiver.valid)
                print_once(x, work_ns, &o);
        }
    return transfer_ns;
}

/* All sizes of the operations of one kind, on a window of its own; returns the share measured. */
static double all_sizes(exchange_setting *s, MPI_Comm both, size_t most, int passive)
{
    engine *e = s->e;
    int more = 1;
    const size_t smallest = 1024, factor = e->quick ? 32 : 8;
    double measured = 0;
    void *memory;
    epoch x = {.s = s};
    MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, both, &memory, &x.window);
    if (passive)
        MPI_Win_lock_all(0, x.window);
    else
        MPI_Win_fence(MPI_MODE_NOPRECEDE, x.window);
    for (x.size = smallest; x.size <= most && more; x.size *= factor) {
        double transfer_ns = 0;
        s->clocks = compare_clocks(e, s->p);
        for (x.op = 0; x.op < operation_count; x.op++)
            if (operations[x.op].passive == passive)
                transfer_ns = measure(&x, 0.5 * (passive + measured));
        measured = progress_of_steps(smallest, factor, most, x.size);
        /* Three operations with four epochs of four times the operation each, and the empty ones.
         */
        more = agreed_to_go_on(e, s->p, 1e-9 * transfer_ns < e->slice_s,
                               3.0 * 5 * 4 * 4 * (double)factor * transfer_ns);
    }
    if (passive)
        MPI_Win_unlock_all(x.window);
    else
        MPI_Win_fence(MPI_MODE_NOSUCCEED, x.window);
    MPI_Win_free(&x.window);
    return measured;
}

static void on_pair(engine *e, const pair *p)
{
    const size_t most = e->max_bytes < (size_t)8 << 20 ? e->max_bytes : (size_t)8 << 20;
    const int ranks[2] = {p->leader, p->partner};
    exchange_setting s = {.e = e, .p = p, .buffer = touched(most), .flavour = registers};
    MPI_Group all, pair_group;
    MPI_Comm both;
    MPI_Comm_group(e->data, &all);
    MPI_Group_incl(all, 2, ranks, &pair_group);
    MPI_Comm_create_group(e->data, pair_group, 109, &both);
    double measured = 0;
    for (int passive = 0; passive < 2; passive++) {
        measured += 0.5 * all_sizes(&s, both, most, passive);
        report_progress(e, "onesided", measured);
    }
    MPI_Comm_free(&both);
    MPI_Group_free(&pair_group);
    MPI_Group_free(&all);
    free(s.buffer);
}

void run_onesided(engine *e)
{
    for_first_pairs(e, on_pair);
}
