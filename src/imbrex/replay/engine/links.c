/* Messages that are under way at the same time share the links of their processes.
 *
 * A process has a link to send and one to receive. Its messages to one peer follow each other, as
 * they do through one connection, or have one each. How fast each moves is in shares.c. */
#include "shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static int add(ix_list *list, uint32_t connection, uint32_t other, double through_ns)
{
    if (list->count == list->room) {
        uint32_t room = 2 * list->room;
        ix_entry *more = realloc(list->of == list->few ? NULL : list->of, room * sizeof *more);
        if (!more)
            return -1;
        if (list->of == list->few)
            memcpy(more, list->few, sizeof list->few);
        list->of = more;
        list->room = room;
    }
    list->of[list->count++] = (ix_entry){connection, other, through_ns};
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
    uint32_t out = ix_link_out(from), in = ix_link_in(f->to);
    l->connections[number] = (ix_connection){.left_ns = f->work_ns,
                                             .at_ns = now,
                                             .rate = 1,
                                             .first = flow,
                                             .last = flow,
                                             .from = from,
                                             .to = f->to,
                                             .place_out = l->links[out].count,
                                             .place_in = l->links[in].count};
    double through = now + f->work_ns;
    if (add(&l->links[out], number, in, through) || add(&l->links[in], number, out, through)) {
        l->failed = 1;
        return;
    }
    ix_shares_changed(l, from, f->to, number, now);
}

static void close_connection(ix_links *l, uint32_t number, double now)
{
    ix_connection *c = &l->connections[number];
    uint32_t from = c->from, to = c->to;
    ix_list *out = &l->links[ix_link_out(from)], *in = &l->links[ix_link_in(to)];
    out->of[c->place_out] = out->of[--out->count];
    l->connections[out->of[c->place_out].connection].place_out = c->place_out;
    in->of[c->place_in] = in->of[--in->count];
    l->connections[in->of[c->place_in].connection].place_in = c->place_in;
    c->place_out = l->unused;
    l->unused = number;
    ix_shares_changed(l, from, to, NONE, now);
}

/* A flow that begins later waits for its time: until then it takes no bandwidth. */

static const ix_start never_begins = {INFINITY, UINT64_MAX, NONE};

static int is_earlier(const ix_start *a, const ix_start *b)
{
    /* Without a branch: nobody can foresee it. */
    return (a->ready_ns < b->ready_ns) | ((a->ready_ns == b->ready_ns) & (a->op < b->op));
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
    if (number != NONE && l->starts_count + 1 >= l->starts_room) {
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
    l->starts[l->starts_count] = never_begins;
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
    l->starts[l->starts_count] = never_begins;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= l->starts_count)
            break;
        child += (uint32_t)is_earlier(&l->starts[child + 1], &l->starts[child]);
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
    const ix_list *out = &l->links[ix_link_out(f->from)];
    for (uint32_t k = 0; l->in_order && k < out->count; k++) {
        if (out->of[k].other != ix_link_in(f->to))
            continue;
        ix_connection *c = &l->connections[out->of[k].connection];
        l->flows[c->last].next = flow;
        c->last = flow;
        return;
    }
    open_connection(l, f->from, flow, f->ready_ns);
}

static ix_through finish(ix_links *l, ix_event event)
{
    ix_connection *c = &l->connections[event.connection];
    double now = event.at_ns;
    uint32_t flow = c->first, following = l->flows[flow].next;
    const ix_flow *done = &l->flows[flow];
    double more = now - done->ready_ns - done->work_ns;
    /* Rounding alone is no sharing. */
    ix_through result = {done->op, done->stream, now + done->flies_ns,
                         more > 1e-6 + 1e-12 * now ? more : 0};
    l->flows[flow].next = l->flows_unused;
    l->flows_unused = flow;
    if (following == NONE) {
        close_connection(l, event.connection, now);
    } else {
        c->first = following;
        c->left_ns = l->flows[following].work_ns;
        c->at_ns = now;
        ix_shares_flow(l, c);
    }
    return result;
}

int ix_links_pass(ix_links *l, ix_through *through)
{
    double first = l->processes ? l->heap[0].at_ns : INFINITY;
    if (l->failed || (!l->starts_count && isinf(first)))
        return 0;
    if (l->starts_count && l->starts[0].ready_ns <= first) {
        begin(l, take_first(l));
        return 1;
    }
    *through = finish(l, l->heap[0]);
    return 2;
}

int ix_links_open(ix_links *l, uint32_t processes, int in_order)
{
    *l = (ix_links){.in_order = in_order, .unused = NONE, .flows_unused = NONE};
    l->links = malloc(2 * (processes + (size_t)1) * sizeof *l->links);
    if (!l->links)
        return -1;
    l->processes = processes;
    for (uint32_t k = 0; k < 2 * processes; k++) {
        l->links[k].of = l->links[k].few;
        l->links[k].count = 0;
        l->links[k].room = IX_FEW;
    }
    return ix_shares_open(l);
}

void ix_links_close(ix_links *l)
{
    for (uint32_t k = 0; k < 2 * l->processes; k++)
        if (l->links[k].of != l->links[k].few)
            free(l->links[k].of);
    free(l->flows);
    free(l->starts);
    free(l->connections);
    free(l->links);
    free(l->level);
    free(l->waits);
    free(l->heap);
    free(l->place);
    free(l->changes);
}
