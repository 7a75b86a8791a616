/* Messages that are under way at the same time share the links of their processes.
 *
 * A process has a link to send and one to receive. Its messages to one peer follow each other, as
 * they do through one connection. Connections share by max-min fairness (Bertsekas and Gallager,
 * Data Networks, 1992, section 6.5): an equal part of a link for each, and what one cannot use,
 * because its other end is busier, for the others.
 *
 * Each link has a level, the most that a connection gets there: rates of at most the level fill
 * it. A connection moves with the lower level of its two ends. Where all levels agree, these rates
 * are the fair ones. A change of one goes on to the other ends for which it makes a difference. */
#include <math.h>
#include <stdlib.h>

#include "share.h"

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
    link->next = IX_NONE;
    if (l->last == IX_NONE)
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
    while (l->first != IX_NONE) {
        uint32_t number = l->first;
        ix_list *link = link_of(l, number);
        l->first = link->next;
        if (l->first == IX_NONE)
            l->last = IX_NONE;
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

int64_t ix_serve(ix_links *l, double *shared_ns)
{
    for (uint32_t p = 0; p < l->processes; p++) {
        l->ends[p].event_ns = l->ends[p].out.level = l->ends[p].in.level = INFINITY;
        put(l, p, p);
    }
    for (uint32_t p = 0; p < l->processes; p++)
        find_event(l, p);
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
