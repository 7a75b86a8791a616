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
        ix_entry *old = list->room > IX_FEW ? list->many : NULL;
        ix_entry *more = realloc(old, room * sizeof *more);
        if (!more)
            return -1;
        if (!old)
            memcpy(more, list->few, sizeof list->few);
        list->many = more;
        list->room = room;
    }
    ix_entries(list)[list->count++] = (ix_entry){connection, other, through_ns};
    return 0;
}

/* Its last connection takes the place of the one that goes. */
static ix_entry take_out(ix_list *list, uint32_t place)
{
    ix_entry *of = ix_entries(list);
    return of[place] = of[--list->count];
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
    l->connections[take_out(out, c->place_out).connection].place_out = c->place_out;
    l->connections[take_out(in, c->place_in).connection].place_in = c->place_in;
    c->place_out = l->unused;
    l->unused = number;
    ix_shares_changed(l, from, to, NONE, now);
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

/* A flow that begins later waits for its time: until then it takes no bandwidth. What a stream
 * offers after another, to begin later than that, stands behind it in its queue. The first of each
 * queue are in a heap, in which each has four behind it that stand in one line of the cache. */
enum { WAYS = 4, BEFORE = WAYS - 1 };
static const ix_start NEVER = ~(ix_start)0;

static ix_start start_of(const ix_links *l, uint32_t flow)
{
    const ix_flow *f = &l->flows[flow];
    return (ix_start)ix_from_ns(f->ready_ns) << 64 | (ix_start)f->op << 32 | flow;
}

static int more_starts(ix_links *l)
{
    uint32_t room = l->starts_room ? 2 * l->starts_room : 256;
    ix_start *more = aligned_alloc(IX_LINE, (room + 2 * WAYS) * sizeof *more);
    if (!more)
        return -1;
    more += BEFORE;
    for (uint32_t k = 0; k < WAYS; k++)
        more[l->starts_count + k] = NEVER;
    if (l->starts) {
        memcpy(more, l->starts, l->starts_count * sizeof *more);
        free(l->starts - BEFORE);
    }
    l->starts = more;
    l->starts_room = room;
    return 0;
}

void ix_links_offer(ix_links *l, ix_flow flow)
{
    uint32_t number = new_flow(l);
    if (number == NONE || (l->starts_count == l->starts_room && more_starts(l))) {
        l->failed = 1;
        return;
    }
    flow.next = NONE;
    l->flows[number] = flow;
    uint32_t before = l->queued[flow.stream];
    l->queued[flow.stream] = number;
    if (before != NONE && l->flows[before].ready_ns <= flow.ready_ns &&
        l->flows[before].op < flow.op) {
        l->flows[before].next = number;
        return;
    }
    ix_start start = start_of(l, number), *starts = l->starts;
    uint32_t place = l->starts_count++;
    starts[place + WAYS] = NEVER;
    while (place && start < starts[(place - 1) / WAYS]) {
        starts[place] = starts[(place - 1) / WAYS];
        place = (place - 1) / WAYS;
    }
    starts[place] = start;
}

/* `start` takes the place of the first. */
static void replace_first(ix_start *starts, uint32_t count, ix_start start)
{
    uint32_t place = 0;
    for (;;) {
        uint32_t child = WAYS * place + 1;
        if (child >= count)
            break;
        /* Without a branch: nothing could foresee it. */
        const ix_start *of = starts + child;
        ix_start a = of[0], b = of[2];
        uint32_t first = of[1] < a, second = 2 + (of[3] < b);
        a = of[first];
        b = of[second];
        first = b < a ? second : first;
        a = b < a ? b : a;
        if (a >= start)
            break;
        starts[place] = a;
        place = child + first;
    }
    starts[place] = start;
}

static uint32_t take_first(ix_links *l)
{
    uint32_t number = (uint32_t)l->starts[0];
    ix_flow *flow = &l->flows[number];
    if (flow->next != NONE) {
        replace_first(l->starts, l->starts_count, start_of(l, flow->next));
        flow->next = NONE;
        return number;
    }
    if (l->queued[flow->stream] == number)
        l->queued[flow->stream] = NONE;
    ix_start last = l->starts[--l->starts_count];
    l->starts[l->starts_count] = NEVER;
    if (l->starts_count)
        replace_first(l->starts, l->starts_count, last);
    return number;
}

static void begin(ix_links *l, uint32_t flow)
{
    const ix_flow *f = &l->flows[flow];
    ix_list *out = &l->links[ix_link_out(f->from)];
    const ix_entry *of = ix_entries(out);
    for (uint32_t k = 0; l->in_order && k < out->count; k++) {
        if (of[k].other != ix_link_in(f->to))
            continue;
        ix_connection *c = &l->connections[of[k].connection];
        l->flows[c->last].next = flow;
        c->last = flow;
        return;
    }
    open_connection(l, f->from, flow, f->ready_ns);
}

static ix_through finish(ix_links *l, uint32_t connection, double now)
{
    ix_connection *c = &l->connections[connection];
    uint32_t flow = c->first, following = l->flows[flow].next;
    const ix_flow *done = &l->flows[flow];
    double more = now - done->ready_ns - done->work_ns;
    /* Rounding alone is no sharing. */
    ix_through result = {done->op, done->stream, now + done->flies_ns,
                         more > 1e-6 + 1e-12 * now ? more : 0};
    l->flows[flow].next = l->flows_unused;
    l->flows_unused = flow;
    if (following == NONE) {
        close_connection(l, connection, now);
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
    if (l->failed || !l->processes)
        return 0;
    uint64_t first = ix_earliest_time(&l->events);
    if (!l->starts_count && first == IX_NEVER)
        return 0;
    if (l->starts_count && (uint64_t)(l->starts[0] >> 64) <= first) {
        begin(l, take_first(l));
        return 1;
    }
    *through = finish(l, l->event[ix_earliest_number(&l->events)], ix_to_ns(first));
    return 2;
}

int ix_links_open(ix_links *l, uint32_t processes, uint32_t streams, int in_order)
{
    *l = (ix_links){.in_order = in_order, .unused = NONE, .flows_unused = NONE};
    l->links = aligned_alloc(IX_LINE, 2 * (processes + (size_t)1) * sizeof *l->links);
    l->queued = malloc((streams + (size_t)1) * sizeof *l->queued);
    if (!l->links || !l->queued)
        return -1;
    l->processes = processes;
    for (uint32_t k = 0; k < 2 * processes; k++) {
        l->links[k].count = 0;
        l->links[k].room = IX_FEW;
    }
    for (uint32_t k = 0; k < streams; k++)
        l->queued[k] = NONE;
    return ix_shares_open(l);
}

void ix_links_close(ix_links *l)
{
    for (uint32_t k = 0; k < 2 * l->processes; k++)
        if (l->links[k].room > IX_FEW)
            free(l->links[k].many);
    if (l->starts)
        free(l->starts - BEFORE);
    free(l->flows);
    free(l->queued);
    free(l->connections);
    free(l->links);
    free(l->level);
    free(l->event);
    free(l->events.at);
}
