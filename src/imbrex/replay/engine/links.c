/* Messages that are under way at the same time share the links of their processes.
 *
 * A process has a link to send and one to receive. Its messages to one peer follow each other, as
 * they do through one connection, or have one each. Connections share by max-min fairness
 * (Bertsekas and Gallager, Data Networks, 1992, section 6.5): an equal part of a link for each, and
 * what one cannot use, because its other end is busier, for the others.
 *
 * Each link has a level, the most that a connection gets there: rates of at most the level fill
 * it. A connection moves with the lower level of its two ends. Where all levels agree, these rates
 * are the fair ones. A change of one goes on to the other ends for which it makes a difference. */
#include "links.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* The process whose event is the earliest is at the root of a heap. */

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

static double through_ns(const ix_connection *c)
{
    return c->at_ns + c->left_ns / c->rate;
}

static void find_event(ix_links *l, uint32_t process)
{
    ix_end *end = &l->ends[process];
    double at = INFINITY;
    for (uint32_t k = 0; k < end->out.count; k++) {
        double through = through_ns(&l->connections[end->out.of[k]]);
        at = through < at ? through : at;
    }
    if (at == end->event_ns)
        return;
    end->event_ns = at;
    reorder(l, process);
}

/* Links have numbers: two of a process. */
static uint32_t link_out(uint32_t process)
{
    return 2 * process;
}

static uint32_t link_in(uint32_t process)
{
    return 2 * process + 1;
}

static ix_list *link_of(ix_links *l, uint32_t number)
{
    ix_end *end = &l->ends[number / 2];
    return number % 2 ? &end->in : &end->out;
}

static uint32_t other_link(const ix_connection *c, uint32_t number)
{
    return number % 2 ? link_out(c->from) : link_in(c->to);
}

static void may_change(ix_links *l, uint32_t number)
{
    ix_list *link = link_of(l, number);
    if (link->waits)
        return;
    link->waits = 1;
    link->next = NONE;
    if (l->last == NONE)
        l->first = number;
    else
        link_of(l, l->last)->next = number;
    l->last = number;
}

/* The level at which a link is full, as the levels of the other ends are. */
static double find_level(ix_links *l, uint32_t number)
{
    const ix_list *link = link_of(l, number);
    double level = link->count ? 1.0 / link->count : INFINITY;
    while (level < INFINITY) {
        double used = 0;
        uint32_t unlimited = 0;
        for (uint32_t k = 0; k < link->count; k++) {
            double there = link_of(l, other_link(&l->connections[link->of[k]], number))->level;
            if (there < level)
                used += there;
            else
                unlimited++;
        }
        double found = unlimited ? (1.0 - used) / unlimited : INFINITY;
        if (found <= level)
            break;
        level = found;
    }
    return level;
}

static void set_rate(ix_links *l, ix_connection *c, double now)
{
    double out = l->ends[c->from].out.level, in = l->ends[c->to].in.level;
    double rate = out < in ? out : in;
    if (rate == c->rate)
        return;
    double left = c->left_ns - (now - c->at_ns) * c->rate;
    c->left_ns = left > 0 ? left : 0;
    c->at_ns = now;
    c->rate = rate;
    find_event(l, c->from);
}

static void change_level(ix_links *l, uint32_t number, double level, double now)
{
    ix_list *link = link_of(l, number);
    double before = link->level;
    link->level = level;
    for (uint32_t k = 0; k < link->count; k++) {
        ix_connection *c = &l->connections[link->of[k]];
        uint32_t other = other_link(c, number);
        double there = link_of(l, other)->level;
        if (before < there || level < there)
            may_change(l, other);
        set_rate(l, c, now);
    }
}

/* The number of connections has changed at both ends. */
static void share_anew(ix_links *l, uint32_t from, uint32_t to, double now)
{
    may_change(l, link_out(from));
    may_change(l, link_in(to));
    while (l->first != NONE) {
        uint32_t number = l->first;
        ix_list *link = link_of(l, number);
        l->first = link->next;
        if (l->first == NONE)
            l->last = NONE;
        link->waits = 0;
        double level = find_level(l, number);
        /* Rounding alone is no change. */
        if (isinf(level) != isinf(link->level) || fabs(level - link->level) > 1e-12 * level)
            change_level(l, number, level, now);
    }
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
    if (number != NONE) {
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
    set_rate(l, &l->connections[number], now);
    find_event(l, from);
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
    find_event(l, from);
}

/* A flow that begins later waits for its time: until then it takes no bandwidth. */

static int is_earlier(const ix_start *a, const ix_start *b)
{
    return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->op < b->op;
}

static uint32_t new_flow(ix_links *l)
{
    uint32_t number = l->flows_unused;
    if (number != NONE) {
        l->flows_unused = l->flows[number].next;
        return number;
    }
    if (l->flows_used == l->flows_room) {
        uint32_t room = l->flows_room ? 2 * l->flows_room : 256;
        ix_flow *more = realloc(l->flows, room * sizeof *more);
        if (!more)
            return NONE;
        l->flows = more;
        l->flows_room = room;
    }
    return l->flows_used++;
}

void ix_links_offer(ix_links *l, ix_flow flow)
{
    uint32_t number = new_flow(l);
    if (number != NONE && l->starts_count == l->starts_room) {
        uint32_t room = l->starts_room ? 2 * l->starts_room : 256;
        ix_start *more = realloc(l->starts, room * sizeof *more);
        number = more ? number : NONE;
        if (more) {
            l->starts = more;
            l->starts_room = room;
        }
    }
    if (number == NONE) {
        l->failed = 1;
        return;
    }
    flow.next = NONE;
    l->flows[number] = flow;
    ix_start start = {flow.ready_ns, flow.op, number};
    uint32_t place = l->starts_count++;
    while (place && is_earlier(&start, &l->starts[(place - 1) / 2])) {
        l->starts[place] = l->starts[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    l->starts[place] = start;
}

static uint32_t take_first(ix_links *l)
{
    uint32_t flow = l->starts[0].flow, place = 0;
    ix_start last = l->starts[--l->starts_count];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= l->starts_count)
            break;
        if (child + 1 < l->starts_count && is_earlier(&l->starts[child + 1], &l->starts[child]))
            child++;
        if (!is_earlier(&l->starts[child], &last))
            break;
        l->starts[place] = l->starts[child];
        place = child;
    }
    l->starts[place] = last;
    return flow;
}

static void begin(ix_links *l, uint32_t flow)
{
    const ix_flow *f = &l->flows[flow];
    const ix_list *out = &l->ends[f->from].out;
    for (uint32_t k = 0; l->in_order && k < out->count; k++) {
        ix_connection *c = &l->connections[out->of[k]];
        if (c->to != f->to)
            continue;
        l->flows[c->last].next = flow;
        c->last = flow;
        return;
    }
    open_connection(l, f->from, flow, f->ready_ns);
}

/* The first of a process' connections is through. */
static ix_through finish(ix_links *l, uint32_t process, double now)
{
    const ix_end *end = &l->ends[process];
    uint32_t number = end->out.of[0];
    for (uint32_t k = 1; k < end->out.count; k++)
        if (through_ns(&l->connections[end->out.of[k]]) < through_ns(&l->connections[number]))
            number = end->out.of[k];
    ix_connection *c = &l->connections[number];
    uint32_t flow = c->first, following = l->flows[flow].next;
    const ix_flow *done = &l->flows[flow];
    double more = now - done->ready_ns - done->work_ns;
    /* Rounding alone is no sharing. */
    ix_through result = {done->op, done->stream, now, more > 1e-6 + 1e-12 * now ? more : 0};
    l->flows[flow].next = l->flows_unused;
    l->flows_unused = flow;
    if (following == NONE) {
        close_connection(l, number, now);
    } else {
        c->first = following;
        c->left_ns = l->flows[following].work_ns;
        c->at_ns = now;
        find_event(l, process);
    }
    return result;
}

int ix_links_pass(ix_links *l, ix_through *through)
{
    double first = l->processes ? l->ends[l->heap[0]].event_ns : INFINITY;
    if (l->failed || (!l->starts_count && isinf(first)))
        return 0;
    if (l->starts_count && l->starts[0].ready_ns <= first) {
        begin(l, take_first(l));
        return 1;
    }
    *through = finish(l, l->heap[0], first);
    return 2;
}

int ix_links_open(ix_links *l, uint32_t processes, int in_order)
{
    *l = (ix_links){.in_order = in_order, .unused = NONE, .first = NONE, .last = NONE};
    l->flows_unused = NONE;
    l->ends = calloc(processes + (size_t)1, sizeof *l->ends);
    l->heap = malloc((processes + (size_t)1) * sizeof *l->heap);
    if (!l->ends || !l->heap)
        return -1;
    l->processes = processes;
    for (uint32_t p = 0; p < processes; p++) {
        l->ends[p].event_ns = l->ends[p].out.level = l->ends[p].in.level = INFINITY;
        put(l, p, p);
    }
    return 0;
}

void ix_links_close(ix_links *l)
{
    for (uint32_t p = 0; p < l->processes; p++) {
        free(l->ends[p].out.of);
        free(l->ends[p].in.of);
    }
    free(l->flows);
    free(l->starts);
    free(l->ends);
    free(l->heap);
    free(l->connections);
}
