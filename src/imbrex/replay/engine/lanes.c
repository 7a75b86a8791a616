#include "lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"
#include "wide.h"

WIDE static void fly(const ix_on *on, double *restrict at, const double *restrict latency,
                     const double *restrict byte_ns, double bytes)
{
    for (uint32_t k = on->begin, end = on->end; k < end; k++)
        at[k] += latency[k] + byte_ns[k] * bytes;
}

/* As start() in transfers.c does it for one network. */
WIDE static void take_link(const ix_on *on, double *restrict at, double *restrict latest,
                           double *restrict free_ns, const double *restrict latency,
                           const double *restrict byte_ns, double bytes, double gap, double turns)
{
    const uint64_t *restrict lane = on->lane;
    for (uint32_t k = on->begin, end = on->end; k < end; k++) {
        double moves = byte_ns[k] * bytes, takes = gap + moves, ready = at[k];
        int in_turn = ready >= latest[k];
        double begins = in_turn & (free_ns[k] > ready) ? free_ns[k] : ready;
        double through = begins + takes;
        latest[k] = lane[k] && in_turn ? ready : latest[k];
        free_ns[k] = lane[k] && through >= free_ns[k] ? through : free_ns[k];
        at[k] = begins + (latency[k] * turns + moves);
    }
}

static double *of(ix_lanes *l, uint32_t row)
{
    return ix_row_at(&l->rows, l->rows.values, row);
}

static double *clock_of(ix_lanes *l, uint32_t stream)
{
    return ix_row_at(&l->rows, l->clock, stream);
}

static const ix_op *op_of(const ix_run *run, uint64_t op)
{
    return &run->schedule->ops[op];
}

static int is_eager_of(const ix_run *run, uint32_t stream, uint64_t send)
{
    const ix_op *op = op_of(run, send);
    return ix_is_eager(run, ix_route_of(run->schedule, run->network, stream, op->peer), op, send);
}

static void give_back(ix_lanes *l, uint32_t *row)
{
    if (*row == IX_NONE)
        return;
    l->rows.unused[l->rows.unused_count++] = *row;
    *row = IX_NONE;
}

static void keep_copy(ix_run *run, uint32_t *row, const double *values)
{
    ix_lanes *l = run->lanes;
    if (*row == IX_NONE && !l->rows.unused_count && ix_orders_more_rows(run))
        return;
    if (*row == IX_NONE)
        *row = l->rows.unused[--l->rows.unused_count];
    ix_row_copy(l->rows.on, of(l, *row), values);
}

static void used(ix_lanes *l, uint64_t op)
{
    if (l->uses[op] == UINT8_MAX)
        return;
    if (l->uses[op])
        l->uses[op]--;
}

static void count_use(ix_lanes *l, uint64_t op)
{
    /* What so many need is kept to the end. */
    if (l->uses[op] < UINT8_MAX)
        l->uses[op]++;
}

/* How often the times of operations will be read. */
static void count_uses(ix_run *run)
{
    const ix_schedule *s = run->schedule;
    ix_lanes *l = run->lanes;
    for (uint32_t stream = 0; stream < s->streams; stream++)
        for (uint64_t i = s->first[stream]; i < s->first[stream + 1]; i++) {
            const ix_op *op = &s->ops[i];
            int blocks = op->flags & IX_BLOCKING;
            switch (op->kind) {
            case IX_SEND:
                if (blocks && !is_eager_of(run, stream, i))
                    count_use(l, i);
                break;
            case IX_RECV:
                if (blocks && op->partner != IX_NONE)
                    count_use(l, op->partner);
                break;
            case IX_WAIT_SEND:
                if (!is_eager_of(run, stream, op->partner))
                    count_use(l, op->partner);
                break;
            case IX_WAIT_ARRIVAL:
                if (!ix_is_over_at_once(run, op))
                    count_use(l, op->partner);
                break;
            case IX_WAIT_RECV:
            case IX_WAIT_MEET:
                count_use(l, op->partner);
                break;
            case IX_MEET:
                if (blocks)
                    count_use(l, i);
                break;
            default:
                break;
            }
        }
}

static double *make_rows(ix_lanes *l, size_t count, double ns)
{
    double *made = ix_rows_of(&l->rows, count);
    for (size_t k = 0; made && k < count * l->rows.width; k++)
        made[k] = ns;
    return made;
}

static int make_all_rows(ix_run *run)
{
    const ix_schedule *s = run->schedule;
    ix_lanes *l = run->lanes;
    size_t rows = 2 * ((size_t)s->streams + s->processes);
    size_t count = s->count + 1;
    if (rows * ix_row_bytes(&l->rows) > l->rows.most_bytes) {
        run->failed = IX_TOO_WIDE;
        return -1;
    }
    l->clock = make_rows(l, s->streams, 0);
    l->latest = make_rows(l, s->processes, 0);
    l->free_ns = make_rows(l, s->processes, 0);
    l->ready = make_rows(l, 1, 0);
    l->first = make_rows(l, 1, 0);
    l->row = malloc(count * sizeof *l->row);
    l->uses = calloc(count, sizeof *l->uses);
    if (run->entered_ns) {
        l->entered = make_rows(l, s->streams, 0);
        l->entered_row = malloc(count * sizeof *l->entered_row);
    }
    if (!l->clock || !l->latest || !l->free_ns || !l->ready || !l->first || !l->row || !l->uses ||
        (run->entered_ns && (!l->entered || !l->entered_row)))
        return -1;
    memset(l->row, 0xff, count * sizeof *l->row);
    if (l->entered_row)
        memset(l->entered_row, 0xff, count * sizeof *l->entered_row);
    return 0;
}

int ix_lanes_open(ix_run *run, const ix_wide *wide)
{
    const ix_schedule *s = run->schedule;
    ix_lanes *l = run->lanes;
    l->networks = wide->networks;
    l->rows.width = (uint32_t)wide->lanes;
    l->rows.most_bytes = wide->most_bytes;
    if (make_all_rows(run))
        return -1;
    for (uint32_t r = 0; r < s->streams; r++)
        for (uint32_t k = 0; k < l->rows.width; k++) {
            clock_of(l, r)[k] = s->start_ns[r];
            if (l->entered)
                ix_row_at(&l->rows, l->entered, r)[k] = s->start_ns[r];
        }
    for (int r = 0; r < IX_ROUTES; r++)
        for (uint32_t k = 0; k < l->rows.width; k++) {
            l->latency_ns[r][k] = wide->networks[k].route[r].latency_ns;
            l->byte_ns[r][k] = wide->networks[k].route[r].byte_ns;
        }
    count_uses(run);
    return ix_orders_open(run);
}

void ix_lanes_close(ix_run *run)
{
    ix_lanes *l = run->lanes;
    free(l->clock);
    free(l->entered);
    free(l->latest);
    free(l->free_ns);
    free(l->rows.values);
    free(l->rows.unused);
    free(l->row);
    free(l->entered_row);
    free(l->uses);
    free(l->ready);
    free(l->first);
    ix_orders_close(run);
}

void ix_lanes_result(ix_run *run, double *run_ns)
{
    ix_lanes *l = run->lanes;
    for (uint32_t k = 0; k < l->rows.width; k++) {
        run_ns[k] = ix_orders_gave_up(run, k) ? NAN : 0;
        for (uint32_t r = 0; r < run->schedule->streams; r++)
            run_ns[k] = clock_of(l, r)[k] > run_ns[k] ? clock_of(l, r)[k] : run_ns[k];
    }
}

void ix_lanes_compute(ix_run *run, uint32_t stream, double ns)
{
    if (ns > 0)
        ix_row_add(run->lanes->rows.on, clock_of(run->lanes, stream), ns);
}

void ix_lanes_enter(ix_run *run, uint32_t stream)
{
    ix_lanes *l = run->lanes;
    if (l->entered)
        ix_row_copy(l->rows.on, ix_row_at(&l->rows, l->entered, stream), clock_of(l, stream));
}

/* Whether a send waits for its receive, and has not started. */
static int waits_to_start(const ix_run *run, uint32_t stream, uint64_t send)
{
    return run->time_ns[send] < 0 && !is_eager_of(run, stream, send);
}

void ix_lanes_completes(ix_run *run, uint32_t stream, uint64_t begun)
{
    const ix_op *op = op_of(run, begun);
    int sends = op->kind == IX_SEND;
    if (op->partner == IX_NONE ||
        !waits_to_start(run, sends ? stream : op->peer, sends ? begun : op->partner))
        return;
    ix_orders_keep(run, begun);
    keep_copy(run, &run->lanes->entered_row[begun], clock_of(run->lanes, stream));
}

void ix_lanes_post(ix_run *run, uint32_t stream, uint64_t op)
{
    const ix_op *receive = op_of(run, op);
    ix_orders_keep(run, op);
    if (receive->partner != IX_NONE && waits_to_start(run, receive->peer, receive->partner))
        keep_copy(run, &run->lanes->row[op], clock_of(run->lanes, stream));
}

void ix_lanes_keep(ix_run *run, uint32_t stream, uint64_t op)
{
    ix_orders_keep(run, op);
    keep_copy(run, &run->lanes->row[op], clock_of(run->lanes, stream));
}

void ix_lanes_ready(ix_run *run, uint32_t stream, uint64_t op)
{
    ix_lanes *l = run->lanes;
    uint32_t kept = l->row[op];
    const double *from = kept == IX_NONE ? clock_of(l, stream) : of(l, kept);
    uint32_t begin = l->rows.on->begin, count = l->rows.on->end - begin;
    memcpy(l->ready + begin, from + begin, count * sizeof *from);
}

void ix_lanes_ready_posted(ix_run *run, uint64_t receive)
{
    ix_lanes *l = run->lanes;
    if (l->row[receive] != IX_NONE)
        ix_row_not_before(l->rows.on, l->ready, of(l, l->row[receive]));
}

void ix_lanes_ready_completed(ix_run *run, uint64_t index)
{
    ix_lanes *l = run->lanes;
    if (l->entered_row[index] != IX_NONE)
        ix_row_not_before(l->rows.on, l->ready, of(l, l->entered_row[index]));
}

void ix_lanes_ready_inside(ix_run *run, uint32_t stream, int ended)
{
    ix_lanes *l = run->lanes;
    const double *at = ix_row_at(&l->rows, ended ? l->clock : l->entered, stream);
    ix_row_not_before(l->rows.on, l->ready, at);
}

void ix_lanes_candidate(ix_run *run, uint64_t op, int is_first)
{
    ix_lanes *l = run->lanes;
    for (uint32_t k = l->rows.on->begin, end = l->rows.on->end; k < end; k++)
        if (is_first || l->ready[k] < l->first[k]) {
            l->first[k] = l->ready[k];
            l->first_op[k] = op;
        }
}

static int route_number(const ix_run *run, uint32_t stream, uint32_t peer)
{
    return (int)(ix_route_of(run->schedule, run->network, stream, peer) - run->network->route);
}

void ix_lanes_start(ix_run *run, uint32_t stream, uint64_t index, int is_free)
{
    ix_lanes *l = run->lanes;
    const ix_op *op = op_of(run, index);
    ix_orders_keep(run, index);
    if (op->partner != IX_NONE)
        ix_orders_keep(run, op->partner);
    int number = route_number(run, stream, op->peer);
    const ix_route *route = &run->network->route[number];
    double bytes = ix_as_bytes(route, ix_bytes(op));
    const double *latency = l->latency_ns[number], *byte_ns = l->byte_ns[number];
    if (ix_is_to_itself(run->schedule, stream, op)) {
        fly(l->rows.on, l->ready, latency, byte_ns, bytes);
    } else if (!is_free) {
        uint32_t process = run->schedule->process[stream];
        double *latest = ix_row_at(&l->rows, l->latest, process);
        double *free_ns = ix_row_at(&l->rows, l->free_ns, process);
        take_link(l->rows.on, l->ready, latest, free_ns, latency, byte_ns, bytes, route->gap_ns,
                  op->flags & IX_ROUND_TRIP ? 2 : 1);
    }
    if (op->partner != IX_NONE)
        give_back(l, &l->row[op->partner]);
    if (l->entered_row) {
        give_back(l, &l->entered_row[index]);
        if (op->partner != IX_NONE)
            give_back(l, &l->entered_row[op->partner]);
    }
    if (l->uses[index])
        keep_copy(run, &l->row[index], l->ready);
    else
        give_back(l, &l->row[index]);
}

void ix_lanes_take(ix_run *run, uint32_t stream, uint64_t op, double more_ns)
{
    ix_lanes *l = run->lanes;
    if (l->row[op] == IX_NONE) /* no memory */
        return;
    ix_orders_keep(run, op);
    ix_row_after(l->rows.on, clock_of(l, stream), of(l, l->row[op]), more_ns);
    used(l, op);
    if (!l->uses[op])
        give_back(l, &l->row[op]);
}

void ix_lanes_look(ix_run *run, uint32_t stream, uint32_t sender, uint64_t send)
{
    ix_lanes *l = run->lanes;
    if (l->row[send] == IX_NONE) /* no memory */
        return;
    const double *latency = l->latency_ns[route_number(run, sender, stream)];
    double *clock = clock_of(l, stream);
    const double *issued = of(l, l->row[send]);
    const ix_on *on = l->rows.on;
    for (uint32_t k = on->begin; k < on->end; k++) {
        double at = issued[k] + latency[k];
        clock[k] = on->lane[k] && at > clock[k] ? at : clock[k];
    }
    ix_orders_keep(run, send);
    used(l, send);
}

void ix_lanes_come(ix_run *run, uint32_t stream, uint64_t op)
{
    ix_orders_keep(run, op);
    keep_copy(run, &run->lanes->row[op], clock_of(run->lanes, stream));
}

void ix_lanes_meet(ix_run *run, const ix_meeting *meeting)
{
    ix_lanes *l = run->lanes;
    const uint32_t *members = run->schedule->members + meeting->first;
    if (run->failed)
        return;
    for (uint32_t k = l->rows.on->begin; k < l->rows.on->end; k++) {
        if (!l->rows.on->lane[k])
            continue;
        for (uint32_t m = 0; m < meeting->count; m++)
            run->enter[m] = of(l, l->row[members[m]])[k];
        ix_meet(run->schedule, &l->networks[k], meeting, run->enter, run->leave, NULL, NULL,
                run->scratch);
        for (uint32_t m = 0; m < meeting->count; m++)
            of(l, l->row[members[m]])[k] = run->leave[m];
    }
    for (uint32_t m = 0; m < meeting->count; m++)
        if (!l->uses[members[m]])
            give_back(l, &l->row[members[m]]);
}
