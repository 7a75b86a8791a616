#include "orders.h"

#include <stdlib.h>

/* Changes are looked through when they are more by so many. */
#ifndef IX_FEWEST_SETTLED
#define IX_FEWEST_SETTLED 1024
#endif

ix_changed ix_changed_now(const ix_run *run, uint64_t op)
{
    const ix_lanes *l = run->lanes;
    ix_changed now = {.op = op,
                      .time_ns = run->time_ns[op],
                      .row = l->row[op],
                      .entered_row = IX_NONE,
                      .uses = l->uses[op]};
    if (l->entered_row) {
        now.entered_ns = run->entered_ns[op];
        now.entered_op = run->entered_op[op];
        now.entered_row = l->entered_row[op];
    }
    return now;
}

static void take_up(ix_run *run, const ix_changed *as)
{
    ix_lanes *l = run->lanes;
    const ix_op *op = &run->schedule->ops[as->op];
    if (op->kind == IX_MEET) {
        /* Who has come to a meeting is not missing there. */
        int comes = as->time_ns >= 0, came = run->time_ns[as->op] >= 0;
        run->missing[op->partner] += (uint32_t)(came - comes);
    }
    run->time_ns[as->op] = as->time_ns;
    l->row[as->op] = as->row;
    l->uses[as->op] = as->uses;
    if (l->entered_row) {
        run->entered_ns[as->op] = as->entered_ns;
        run->entered_op[as->op] = as->entered_op;
        l->entered_row[as->op] = as->entered_row;
    }
}

int ix_changed_add(ix_run *run, uint32_t number, ix_changed change)
{
    ix_orders *o = run->lanes->orders;
    ix_order *order = &o->order[number];
    if (order->changed_count == order->changed_room) {
        size_t room = order->changed_room ? 2 * order->changed_room : 256;
        ix_changed *more = realloc(order->changed, room * sizeof *more);
        if (!more) {
            run->failed = 1;
            return -1;
        }
        order->changed = more;
        order->changed_room = room;
    }
    order->changed[order->changed_count++] = change;
    o->changed_by[change.op] |= (uint64_t)1 << number;
    return 0;
}

void ix_orders_keep_changed(ix_run *run, uint64_t op)
{
    ix_orders *o = run->lanes->orders;
    if (!(o->changed_by[op] >> o->now & 1))
        ix_changed_add(run, o->now, ix_changed_now(run, op));
}

void ix_changed_exchange(ix_run *run, uint32_t number)
{
    ix_orders *o = run->lanes->orders;
    ix_order *order = &o->order[number];
    for (size_t k = 0; k < order->changed_count; k++) {
        ix_changed now = ix_changed_now(run, order->changed[k].op);
        take_up(run, &order->changed[k]);
        order->changed[k] = now;
    }
    o->exchanged += order->changed_count;
}

int ix_changed_equal(const ix_changed *one, const ix_changed *other)
{
    return (one->time_ns < 0) == (other->time_ns < 0) &&
           (one->entered_ns < 0) == (other->entered_ns < 0) &&
           (one->entered_ns < 0 || one->entered_op == other->entered_op) &&
           one->uses == other->uses && (one->row == IX_NONE) == (other->row == IX_NONE) &&
           (one->entered_row == IX_NONE) == (other->entered_row == IX_NONE);
}

const ix_changed *ix_changed_each(const ix_run *run, uint32_t other, size_t *place)
{
    const ix_orders *o = run->lanes->orders;
    const ix_order *theirs = &o->order[other], *ours = &o->order[o->now];
    if (*place < theirs->changed_count)
        return &theirs->changed[(*place)++];
    while (*place < theirs->changed_count + ours->changed_count) {
        const ix_changed *before = &ours->changed[(*place)++ - theirs->changed_count];
        if (!(o->changed_by[before->op] >> other & 1))
            return before;
    }
    return NULL;
}

/* Nobody waits for it or reads its time any more. */
static int is_past(const ix_changed *change)
{
    return change->time_ns >= 0 && change->row == IX_NONE && change->entered_row == IX_NONE;
}

/* Of the operations that an order has changed those which are not past in all orders, or not in the
 * same way. */
static void mark_kept(const ix_run *run, uint32_t number)
{
    const ix_orders *o = run->lanes->orders;
    const ix_order *order = &o->order[number];
    for (size_t k = 0; k < order->changed_count; k++) {
        const ix_changed *theirs = &order->changed[k], now = ix_changed_now(run, theirs->op);
        /* Of the one that is gone on with, it is as orders have it that have not changed it. */
        int is_compared = number != o->now || o->changed_by[theirs->op] != o->live;
        if (is_compared && !(is_past(theirs) && ix_changed_equal(&now, theirs)))
            o->kept[theirs->op] = 1;
    }
}

void ix_changed_settle(ix_run *run)
{
    ix_orders *o = run->lanes->orders;
    size_t left = 0;
    for (uint32_t number = 0; number < IX_ORDERS; number++)
        left += o->order[number].changed_count;
    if (left < 2 * o->unsettled + IX_FEWEST_SETTLED)
        return;
    for (uint32_t number = 0; number < IX_ORDERS; number++)
        mark_kept(run, number);
    o->unsettled = 0;
    for (uint32_t number = 0; number < IX_ORDERS; number++) {
        ix_order *order = &o->order[number];
        size_t kept = 0;
        for (size_t k = 0; k < order->changed_count; k++) {
            uint64_t op = order->changed[k].op;
            if (o->kept[op])
                order->changed[kept++] = order->changed[k];
            else
                o->changed_by[op] = 0;
        }
        order->changed_count = kept;
        o->unsettled += kept;
    }
    for (uint32_t number = 0; number < IX_ORDERS; number++)
        for (size_t k = 0; k < o->order[number].changed_count; k++)
            o->kept[o->order[number].changed[k].op] = 0;
}
