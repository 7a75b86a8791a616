/* Data-transfer overlap over size and work (Shet et al., section 3): growing work between start and
 * wait, sampled where the time left for MPI changes. */
#include "engine/exchange.h"
#include "engine/pace.h"

#include <math.h>
#include <stdlib.h>

enum { most_points = 9 };

static const struct {
    const char *label;
    int sender_computes, receiver_computes, both_ways;
} operations[] = {
    {"grid-isend-recv", 1, 0, 0},
    {"grid-send-irecv", 0, 1, 0},
    {"grid-isend-irecv", 1, 1, 0},
    {"grid-both-ways", 1, 1, 1},
};
enum { operation_count = sizeof operations / sizeof operations[0] };

/* Work in transfers, and the time left for start and wait with it. */
typedef struct point {
    double work, left_ns;
} point;

typedef struct curve {
    const exchange_setting *s;
    size_t size;
    int op, count;
    double transfer_ns;
    point points[most_points]; /* ascending in work */
    int npoints;
} curve;

static void measure(curve *c, double work)
{
    const side computing = {0, work * c->transfer_ns, 0}, blocking = {0, BLOCKING, 0};
    const side sender = operations[c->op].sender_computes ? computing : blocking;
    const side receiver = operations[c->op].receiver_computes ? computing : blocking;
    const double left_ns =
        operations[c->op].both_ways
            ? exchanges_both_ways(c->s, operations[c->op].label, c->size, computing, c->count)
            : exchanges(c->s, operations[c->op].label, c->size, sender, receiver, c->count);
    int at = c->npoints++;
    for (; at > 0 && c->points[at - 1].work > work; at--)
        c->points[at] = c->points[at - 1];
    c->points[at] = (point){work, left_ns};
}

/* Both ranks know the same curve, and so come to the same choice; negative: nothing to refine. */
static double where_to_refine(const curve *c)
{
    const double worth_ns = 0.1 * c->points[0].left_ns;
    double largest_ns = worth_ns, where = -1;
    for (int i = 0; i + 1 < c->npoints; i++) {
        const double change_ns = fabs(c->points[i + 1].left_ns - c->points[i].left_ns);
        if (c->points[i + 1].work - c->points[i].work > 0.3 && change_ns > largest_ns) {
            largest_ns = change_ns;
            where = 0.5 * (c->points[i].work + c->points[i + 1].work);
        }
    }
    return where;
}

static void sample(curve *c, int most)
{
    static const double first[] = {0, 1, 3};
    engine *e = c->s->e;
    c->npoints = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        measure(c, first[i]);
    while (c->npoints < most && agree(e, c->s->p, !out_of_time(e))) {
        const double work = where_to_refine(c);
        if (work < 0)
            break;
        measure(c, work);
    }
}

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {
        .e = e, .p = p, .buffer = touched(e->max_bytes), .back = touched(e->max_bytes)};
    const size_t smallest = 1024, factor = e->quick ? 32 : 8;
    double done = 0;
    int more = 1;
    for (size_t size = smallest; size <= e->max_bytes && more; size *= factor) {
        s.clocks = compare_clocks(e, p);
        curve c = {.s = &s, .size = size};
        for (s.flavour = registers; s.flavour < flavours; s.flavour++) {
            c.transfer_ns = transfer_estimate(&s, size);
            c.count = repetitions(&s, c.transfer_ns, 7, 11, done);
            for (c.op = 0; c.op < operation_count; c.op++)
                sample(&c, agreed_affordable(e, p, done, e->quick ? 5 : most_points, 3));
        }
        done = progress_of_steps(smallest, factor, e->max_bytes, size);
        report_progress(e, "grid", done);
        /* An exchange takes about four transfers; of each curve at least three points are measured.
         */
        more = agreed_to_go_on(e, p, 1e-9 * c.transfer_ns < e->slice_s,
                               4.0 * 3 * c.count / 2 * flavours * operation_count * (double)factor *
                                   c.transfer_ns);
    }
    free(s.buffer);
    free(s.back);
}

void run_grid(engine *e)
{
    for_first_pairs(e, all_sizes);
}
