#include "orders.h"

#include <stdlib.h>
#include <string.h>

/* Orders are given up where they change places so often that passes of their own are cheaper: so
 * many changes for each operation of the schedule and lane, of which a replay takes longer. */
enum { MOST_EXCHANGED = 8 };

int ix_orders_open(ix_run *run)
{
    ix_orders *o = calloc(1, sizeof *o);
    run->lanes->orders = o;
    if (!o)
        return -1;
    o->live = 1;
    ix_on_clear(&o->order[0].on, run->lanes->rows.width);
    for (uint32_t k = 0; k < run->lanes->rows.width; k++)
        ix_on_add(&o->order[0].on, k);
    run->lanes->rows.on = &o->order[0].on;
    return 0;
}

static void streams_free(const ix_run *run, ix_stream *streams)
{
    for (uint32_t r = 0; streams && r < run->schedule->streams; r++)
        free(streams[r].sends);
    free(streams);
}

static void order_free(const ix_run *run, ix_order *order)
{
    streams_free(run, order->streams);
    free(order->unused);
    free(order->changed);
    *order = (ix_order){0};
}

void ix_orders_close(ix_run *run)
{
    ix_orders *o = run->lanes->orders;
    for (int k = 0; o && k < IX_ORDERS; k++)
        order_free(run, &o->order[k]);
    if (o) {
        free(o->changed_by);
        free(o->kept);
    }
    free(o);
}

int ix_orders_more_rows(ix_run *run)
{
    ix_lanes *l = run->lanes;
    ix_orders *o = l->orders;
    uint32_t before = l->rows.room, room = before ? 2 * before : 256;
    if (room * ix_row_bytes(&l->rows) > l->rows.most_bytes) {
        run->failed = IX_TOO_WIDE;
        return -1;
    }
    double *values = ix_rows_of(&l->rows, room);
    if (!values) {
        run->failed = 1;
        return -1;
    }
    if (before)
        memcpy(values, l->rows.values, before * ix_row_bytes(&l->rows));
    free(l->rows.values);
    l->rows.values = values;
    l->rows.room = room;
    for (uint32_t k = 0; k < IX_ORDERS; k++) {
        if (!(o->live >> k & 1))
            continue;
        uint32_t **unused = k == o->now ? &l->rows.unused : &o->order[k].unused;
        uint32_t *count = k == o->now ? &l->rows.unused_count : &o->order[k].unused_count;
        uint32_t *more = realloc(*unused, room * sizeof *more);
        if (!more) {
            run->failed = 1;
            return -1;
        }
        *unused = more;
        for (uint32_t row = room; row-- > before;)
            more[(*count)++] = row;
    }
    return 0;
}

/* Where a stream is counts three times and what it has begun twice, so that both a message that
 * starts and an operation that adds one to those that wait are a step ahead. */
static uint64_t progress(const ix_run *run)
{
    uint64_t found = 0;
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        found += 3 * run->streams[r].next + 2 * (run->streams[r].resumed != 0);
    return found - run->waiting;
}

static uint64_t operations_behind(const ix_run *run)
{
    uint64_t found = 0;
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        found += run->streams[r].next - run->schedule->first[r];
    return found;
}

uint64_t ix_orders_gone(const ix_run *run)
{
    const ix_orders *o = run->lanes->orders;
    return o->gone + operations_behind(run) - o->behind;
}

int ix_orders_gave_up(const ix_run *run, uint32_t lane)
{
    return run->lanes->orders->given_up[lane];
}

static void put_back(ix_run *run)
{
    ix_lanes *l = run->lanes;
    ix_orders *o = l->orders;
    ix_order *order = &o->order[o->now];
    o->gone = ix_orders_gone(run);
    ix_changed_exchange(run, o->now);
    order->streams = run->streams;
    order->waiting = run->waiting;
    order->awaiting = run->awaiting;
    order->unused = l->rows.unused;
    order->unused_count = l->rows.unused_count;
}

static void go_on_with(ix_run *run, uint32_t number)
{
    ix_lanes *l = run->lanes;
    ix_orders *o = l->orders;
    ix_order *order = &o->order[number];
    ix_changed_exchange(run, number);
    run->streams = order->streams;
    run->waiting = order->waiting;
    run->awaiting = order->awaiting;
    l->rows.unused = order->unused;
    l->rows.unused_count = order->unused_count;
    l->rows.on = &order->on;
    order->streams = NULL;
    order->unused = NULL;
    o->now = number;
    o->behind = operations_behind(run);
}

/* It is gone on with no more, and what it has changed stays as it was before. */
static void forget(ix_run *run, uint32_t number)
{
    ix_orders *o = run->lanes->orders;
    ix_order *order = &o->order[number];
    for (size_t k = 0; k < order->changed_count; k++)
        o->changed_by[order->changed[k].op] &= ~((uint64_t)1 << number);
    order_free(run, order);
    o->live &= ~((uint64_t)1 << number);
}

/* There is one order: what it has changed others will have, too. */
static void settle(ix_run *run)
{
    ix_orders *o = run->lanes->orders;
    ix_order *order = &o->order[o->now];
    if (ix_orders_are_many(run))
        return;
    for (size_t k = 0; k < order->changed_count; k++)
        o->changed_by[order->changed[k].op] = 0;
    order->changed_count = 0;
}

static int equal_streams(const ix_stream *one, const ix_stream *other)
{
    if (one->next != other->next || one->resumed != other->resumed || one->call != other->call ||
        one->waits != other->waits || one->over != other->over)
        return 0;
    uint32_t k = one->sends_first, m = other->sends_first;
    for (;; k++, m++) {
        while (k < one->sends_end && one->sends[k].ready_ns < 0)
            k++;
        while (m < other->sends_end && other->sends[m].ready_ns < 0)
            m++;
        if (k == one->sends_end || m == other->sends_end)
            return k == one->sends_end && m == other->sends_end;
        if (one->sends[k].op != other->sends[m].op)
            return 0;
    }
}

static int is_the_same(const ix_run *run, uint32_t number)
{
    const ix_order *other = &run->lanes->orders->order[number];
    if (run->waiting != other->waiting || run->awaiting != other->awaiting)
        return 0;
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        if (!equal_streams(&run->streams[r], &other->streams[r]))
            return 0;
    const ix_changed *theirs;
    for (size_t place = 0; (theirs = ix_changed_each(run, number, &place));) {
        ix_changed ours = ix_changed_now(run, theirs->op);
        if (!ix_changed_equal(&ours, theirs))
            return 0;
    }
    return 1;
}

/* The times of an order that is the same go into the rows of the one that is gone on with; where
 * they come from another row only when all are read. */
static void take_over_rows(ix_run *run, uint32_t number)
{
    ix_lanes *l = run->lanes;
    ix_orders *o = l->orders;
    size_t most = 2 * (o->order[number].changed_count + o->order[o->now].changed_count), moved = 0;
    double *values = ix_rows_of(&l->rows, most);
    uint32_t *to = malloc((most + 1) * sizeof *to);
    const ix_changed *theirs;
    if (!values || !to)
        run->failed = 1;
    for (size_t place = 0; !run->failed && (theirs = ix_changed_each(run, number, &place));) {
        uint32_t from[2] = {theirs->row, theirs->entered_row};
        uint32_t into[2] = {l->row[theirs->op],
                            l->entered_row ? l->entered_row[theirs->op] : IX_NONE};
        for (int k = 0; k < 2; k++)
            if (into[k] != IX_NONE && into[k] != from[k]) {
                memcpy(ix_row_at(&l->rows, values, moved),
                       ix_row_at(&l->rows, l->rows.values, from[k]), ix_row_bytes(&l->rows));
                to[moved++] = into[k];
            }
    }
    for (size_t k = 0; k < moved; k++)
        ix_row_copy(&o->order[number].on, ix_row_at(&l->rows, l->rows.values, to[k]),
                    ix_row_at(&l->rows, values, k));
    free(values);
    free(to);
}

static void become_one(ix_run *run, uint32_t number)
{
    ix_orders *o = run->lanes->orders;
    take_over_rows(run, number);
    ix_on_join(&o->order[o->now].on, &o->order[number].on);
    forget(run, number);
}

static uint32_t furthest_behind(const ix_orders *o)
{
    uint32_t found = o->now;
    for (uint32_t k = 0; k < IX_ORDERS; k++)
        if (o->live >> k & 1 &&
            (!(o->live >> found & 1) || o->order[k].progress < o->order[found].progress))
            found = k;
    return found;
}

static void give_up(ix_orders *o, const ix_on *on)
{
    for (uint32_t k = on->begin; k < on->end; k++)
        o->given_up[k] |= on->lane[k] != 0;
}

void ix_orders_meet(ix_run *run)
{
    ix_orders *o = run->lanes->orders;
    if (!ix_orders_are_many(run))
        return;
    o->order[o->now].progress = progress(run);
    uint64_t most = MOST_EXCHANGED * run->schedule->count * run->lanes->rows.width;
    for (uint32_t k = 0; k < IX_ORDERS && !run->failed; k++) {
        if (k == o->now || !(o->live >> k & 1))
            continue;
        if (o->exchanged > most) {
            give_up(o, &o->order[k].on);
            forget(run, k);
        } else if (o->order[k].progress == o->order[o->now].progress && is_the_same(run, k))
            become_one(run, k);
    }
    settle(run);
    ix_changed_settle(run);
    uint32_t next = furthest_behind(o);
    if (next != o->now) {
        put_back(run);
        go_on_with(run, next);
    }
}

static ix_stream *copy_of_streams(const ix_run *run)
{
    uint32_t count = run->schedule->streams;
    ix_stream *copy = aligned_alloc(IX_LINE, (count + (size_t)1) * sizeof *copy);
    if (!copy)
        return NULL;
    memcpy(copy, run->streams, count * sizeof *copy);
    int bad = 0;
    for (uint32_t r = 0; r < count; r++) {
        size_t bytes = copy[r].sends_room * sizeof *copy[r].sends;
        copy[r].sends = bytes && !bad ? malloc(bytes) : NULL;
        bad |= bytes && !copy[r].sends;
        if (copy[r].sends)
            memcpy(copy[r].sends, run->streams[r].sends, bytes);
    }
    if (!bad)
        return copy;
    streams_free(run, copy);
    return NULL;
}

/* An order as this one, for some lanes. */
static void part(ix_run *run, const ix_on *on)
{
    ix_lanes *l = run->lanes;
    ix_orders *o = l->orders;
    uint32_t number = 0;
    if (!o->changed_by) {
        o->changed_by = calloc(run->schedule->count + 1, sizeof *o->changed_by);
        o->kept = calloc(run->schedule->count + 1, sizeof *o->kept);
    }
    while (number < IX_ORDERS && o->live >> number & 1)
        number++;
    if (number == IX_ORDERS) {
        give_up(o, on);
        return;
    }
    ix_order *order = &o->order[number];
    order->on = *on;
    order->progress = progress(run);
    order->waiting = run->waiting;
    order->awaiting = run->awaiting;
    order->streams = copy_of_streams(run);
    order->unused = malloc((l->rows.room + (size_t)1) * sizeof *order->unused);
    order->unused_count = l->rows.unused_count;
    o->live |= (uint64_t)1 << number;
    if (!o->changed_by || !o->kept || !order->streams || !order->unused) {
        run->failed = 1;
        return;
    }
    if (order->unused_count)
        memcpy(order->unused, l->rows.unused, order->unused_count * sizeof *order->unused);
    const ix_order *now = &o->order[o->now];
    for (size_t k = 0; k < now->changed_count && !run->failed; k++)
        ix_changed_add(run, number, ix_changed_now(run, now->changed[k].op));
}

uint64_t ix_orders_divide(ix_run *run)
{
    ix_lanes *l = run->lanes;
    ix_on *own = &l->orders->order[l->orders->now].on, left = *own, on;
    uint64_t chosen = UINT64_MAX;
    for (uint32_t first = left.begin; first < left.end; first++) {
        if (!left.lane[first])
            continue;
        ix_on_clear(&on, l->rows.width);
        for (uint32_t k = first; k < left.end; k++)
            if (left.lane[k] && l->first_op[k] == l->first_op[first]) {
                ix_on_add(&on, k);
                left.lane[k] = 0;
            }
        if (chosen != UINT64_MAX) {
            part(run, &on);
            continue;
        }
        chosen = l->first_op[first];
        *own = on;
    }
    return chosen;
}

int ix_orders_ended(ix_run *run)
{
    ix_orders *o = run->lanes->orders;
    for (uint32_t r = 0; r < run->schedule->streams; r++)
        if (!run->streams[r].over)
            return 0;
    if (run->failed || !ix_orders_are_many(run))
        return 0;
    put_back(run);
    forget(run, o->now);
    go_on_with(run, furthest_behind(o));
    settle(run);
    return 1;
}
