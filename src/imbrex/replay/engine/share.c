/* Messages that are under way at the same time share the links of their processes.
 *
 * A process has a link to send and one to receive. Its messages to one peer follow each other, as
 * they do through one connection; each connection with something under way has an equal part of
 * its sender's link and of its receiver's, and moves with the smaller of the two. */
#include <math.h>
#include <stdlib.h>

#include "engine.h"

typedef struct ix_flow {
    double ready_ns, work_ns;
    uint64_t op;
    uint32_t to;   /* a process */
    uint32_t next; /* of its connection: the flow behind it */
} ix_flow;

/* From one process to another, while something is under way. */
typedef struct ix_connection {
    double left_ns, at_ns, rate; /* of the first flow, as it was at a time */
    uint32_t first, last;        /* flows */
    uint32_t from, to;
    uint32_t place_out, place_in; /* in the lists of its two ends; the place of a free one names
                                   * the next free one */
} ix_connection;

typedef struct ix_list {
    uint32_t *of;
    uint32_t count, room;
} ix_list;

typedef struct ix_end {
    ix_list out, in;     /* connections */
    uint32_t next, last; /* its flows, in the order in which they can start */
    double event_ns;     /* when the next of them starts, or one of `out` is through */
    uint32_t place;      /* in the heap */
} ix_end;

typedef struct ix_links {
    ix_flow *flows;
    ix_end *ends;
    uint32_t *heap; /* of processes, by their next event */
    uint32_t processes;
    ix_connection *connections;
    uint32_t used, room, unused; /* of the connections; the first free one */
    int failed;
} ix_links;

static int by_start(const void *a, const void *b)
{
    const ix_flow *x = a, *y = b;
    if (x->ready_ns != y->ready_ns)
        return x->ready_ns < y->ready_ns ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* ---- The heap -------------------------------------------------------------------------------- */

static void put(ix_links *l, uint32_t place, uint32_t process)
{
    l->heap[place] = process;
    l->ends[process].place = place;
}

/* The event of a process has changed. */
static void reorder(ix_links *l, uint32_t process)
{
    double at = l->ends[process].event_ns;
    uint32_t place = l->ends[process].place;
    while (place && l->ends[l->heap[(place - 1) / 2]].event_ns > at) {
        put(l, place, l->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= l->processes)
            break;
        if (child + 1 < l->processes &&
            l->ends[l->heap[child + 1]].event_ns < l->ends[l->heap[child]].event_ns)
            child++;
        if (l->ends[l->heap[child]].event_ns >= at)
            break;
        put(l, place, l->heap[child]);
        place = child;
    }
    put(l, place, process);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static double through_ns(const ix_connection *c)
{
    return c->at_ns + c->left_ns / c->rate;
}

static void find_event(ix_links *l, uint32_t process)
{
    ix_end *end = &l->ends[process];
    double at = end->next < end->last ? l->flows[end->next].ready_ns : INFINITY;
    for (uint32_t k = 0; k < end->out.count; k++) {
        double through = through_ns(&l->connections[end->out.of[k]]);
        at = through < at ? through : at;
    }
    if (at == end->event_ns)
        return;
    end->event_ns = at;
    reorder(l, process);
}

/* Whether its rate is another now. */
static int set_rate(ix_links *l, ix_connection *c, double now)
{
    uint32_t out = l->ends[c->from].out.count, in = l->ends[c->to].in.count;
    double rate = 1.0 / (out > in ? out : in);
    if (rate == c->rate)
        return 0;
    double left = c->left_ns - (now - c->at_ns) * c->rate;
    c->left_ns = left > 0 ? left : 0;
    c->at_ns = now;
    c->rate = rate;
    return 1;
}

/* The number of connections has changed at both ends. */
static void share_anew(ix_links *l, uint32_t from, uint32_t to, double now)
{
    ix_list *out = &l->ends[from].out, *in = &l->ends[to].in;
    for (uint32_t k = 0; k < out->count; k++)
        set_rate(l, &l->connections[out->of[k]], now);
    for (uint32_t k = 0; k < in->count; k++) {
        ix_connection *c = &l->connections[in->of[k]];
        if (set_rate(l, c, now) && c->from != from)
            find_event(l, c->from);
    }
    find_event(l, from);
}

static int add(ix_list *list, uint32_t number)
{
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 4;
        uint32_t *more = realloc(list->of, room * sizeof *more);
        if (!more)
            return -1;
        list->of = more;
        list->room = room;
    }
    list->of[list->count++] = number;
    return 0;
}

static void open_connection(ix_links *l, uint32_t from, uint32_t flow, double now)
{
    const ix_flow *f = &l->flows[flow];
    uint32_t number = l->unused;
    if (number != IX_NONE) {
        l->unused = l->connections[number].place_out;
    } else {
        if (l->used == l->room) {
            uint32_t room = l->room ? 2 * l->room : 64;
            ix_connection *more = realloc(l->connections, room * sizeof *more);
            if (!more) {
                l->failed = 1;
                return;
            }
            l->connections = more;
            l->room = room;
        }
        number = l->used++;
    }
    ix_list *out = &l->ends[from].out, *in = &l->ends[f->to].in;
    l->connections[number] =
        (ix_connection){f->work_ns, now, 1, flow, flow, from, f->to, out->count, in->count};
    if (add(out, number) || add(in, number)) {
        l->failed = 1;
        return;
    }
    share_anew(l, from, f->to, now);
}

static void close_connection(ix_links *l, uint32_t number, double now)
{
    ix_connection *c = &l->connections[number];
    uint32_t from = c->from, to = c->to;
    ix_list *out = &l->ends[from].out, *in = &l->ends[to].in;
    out->of[c->place_out] = out->of[--out->count];
    l->connections[out->of[c->place_out]].place_out = c->place_out;
    in->of[c->place_in] = in->of[--in->count];
    l->connections[in->of[c->place_in]].place_in = c->place_in;
    c->place_out = l->unused;
    l->unused = number;
    share_anew(l, from, to, now);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void begin(ix_links *l, uint32_t process, double now)
{
    ix_end *end = &l->ends[process];
    uint32_t flow = end->next++;
    for (uint32_t k = 0; k < end->out.count; k++) {
        ix_connection *c = &l->connections[end->out.of[k]];
        if (c->to != l->flows[flow].to)
            continue;
        l->flows[c->last].next = flow;
        c->last = flow;
        find_event(l, process);
        return;
    }
    open_connection(l, process, flow, now);
}

/* The first of a process' connections is through: how much longer its flow took. */
static double finish(ix_links *l, uint32_t process, double now, uint64_t *op)
{
    const ix_end *end = &l->ends[process];
    uint32_t number = end->out.of[0];
    for (uint32_t k = 1; k < end->out.count; k++)
        if (through_ns(&l->connections[end->out.of[k]]) < through_ns(&l->connections[number]))
            number = end->out.of[k];
    ix_connection *c = &l->connections[number];
    const ix_flow *done = &l->flows[c->first];
    double more = now - done->ready_ns - done->work_ns;
    *op = done->op;
    if (done->next == IX_NONE) {
        close_connection(l, number, now);
    } else {
        c->first = done->next;
        c->left_ns = l->flows[c->first].work_ns;
        c->at_ns = now;
        find_event(l, process);
    }
    /* Rounding alone is no sharing. */
    return more > 1e-6 + 1e-12 * now ? more : 0;
}

static int64_t serve(ix_links *l, double *shared_ns)
{
    int64_t sharing = 0;
    while (!l->failed && l->processes) {
        uint32_t process = l->heap[0];
        const ix_end *end = &l->ends[process];
        double now = end->event_ns;
        if (isinf(now))
            break;
        if (end->next < end->last && l->flows[end->next].ready_ns <= now) {
            begin(l, process, now);
            continue;
        }
        uint64_t op;
        double more = finish(l, process, now, &op);
        shared_ns[op] = more;
        sharing += more > 0;
    }
    return l->failed ? -1 : sharing;
}

/* ---- Flows ----------------------------------------------------------------------------------- */

static int takes_link(const ix_schedule *s, const ix_network *n, uint64_t op)
{
    return s->ops[op].kind == IX_SEND && !ix_is_site(s, &s->ops[op], (int64_t)op, n->free_site);
}

/* The flows of all processes, process after process. */
static int gather(ix_links *l, const ix_schedule *s, const ix_network *n, const double *ready_ns)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < s->streams; r++)
        for (uint64_t i = s->first[r]; i < s->first[r + 1]; i++)
            l->ends[s->process[r]].last += (uint32_t)takes_link(s, n, i);
    for (uint32_t p = 0; p < s->processes; p++) {
        l->ends[p].next = (uint32_t)count;
        count += l->ends[p].last;
        l->ends[p].last = l->ends[p].next;
    }
    l->flows = malloc((count + 1) * sizeof *l->flows);
    if (!l->flows)
        return -1;
    for (uint32_t r = 0; r < s->streams; r++)
        for (uint64_t i = s->first[r]; i < s->first[r + 1]; i++) {
            if (!takes_link(s, n, i))
                continue;
            const ix_op *op = &s->ops[i];
            const ix_route *route = ix_route_of(s, n, r, op->peer);
            double moves = route->byte_ns * ix_bytes(op);
            double work = moves > route->gap_ns ? moves : route->gap_ns;
            l->flows[l->ends[s->process[r]].last++] =
                (ix_flow){ready_ns[i], work, i, s->process[op->peer], IX_NONE};
        }
    for (uint32_t p = 0; p < s->processes; p++) {
        const ix_end *end = &l->ends[p];
        uint32_t k = end->next + 1;
        while (k < end->last && by_start(&l->flows[k - 1], &l->flows[k]) <= 0)
            k++;
        if (k < end->last)
            qsort(l->flows + end->next, end->last - end->next, sizeof *l->flows, by_start);
    }
    return 0;
}

int64_t ix_share(const ix_schedule *schedule, const ix_network *network, const double *ready_ns,
                 double *shared_ns)
{
    ix_links l = {.processes = schedule->processes, .unused = IX_NONE};
    int64_t sharing = -1;
    l.ends = calloc(schedule->processes + 1, sizeof *l.ends);
    l.heap = malloc((schedule->processes + 1) * sizeof *l.heap);
    if (l.ends && l.heap && !gather(&l, schedule, network, ready_ns)) {
        for (uint32_t p = 0; p < l.processes; p++) {
            l.ends[p].event_ns = INFINITY;
            put(&l, p, p);
        }
        for (uint32_t p = 0; p < l.processes; p++)
            find_event(&l, p);
        sharing = serve(&l, shared_ns);
    }
    for (uint32_t p = 0; l.ends && p < l.processes; p++) {
        free(l.ends[p].out.of);
        free(l.ends[p].in.of);
    }
    free(l.flows);
    free(l.ends);
    free(l.heap);
    free(l.connections);
    return sharing;
}
