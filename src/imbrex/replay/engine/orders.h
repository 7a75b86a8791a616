/* Lanes in which another message is first where all streams wait (lanes.h) go on with an order of
 * their own, until both orders have started the same messages and are at the same operations: from
 * there on they are one again.
 *
 * The order that is furthest behind is gone on with, so that two which come to be the same meet
 * there. What differs between them is known or not known, and where streams are, but never a time:
 * those stand in lanes that no other order touches. */
#ifndef IMBREX_REPLAY_ENGINE_ORDERS_H
#define IMBREX_REPLAY_ENGINE_ORDERS_H

#include "changes.h"

enum { IX_ORDERS = 64 }; /* at a time; more are given up */

typedef struct ix_order {
    ix_on on;
    uint64_t progress;
    /* Of one that is not gone on with: */
    ix_stream *streams;
    uint32_t *unused, unused_count;
    uint32_t awaiting;
    uint64_t waiting;
    /* What it has changed: while it is gone on with as that was before, else as it has it. */
    ix_changed *changed;
    size_t changed_count, changed_room;
} ix_order;

typedef struct ix_orders {
    ix_order order[IX_ORDERS];
    uint64_t live;         /* a bit of each */
    uint32_t now;          /* the one that is gone on with */
    uint64_t *changed_by;  /* of each operation the orders that changed it; NULL: none ever did */
    uint8_t *kept;         /* of each operation; all 0 between calls of ix_changed_settle */
    size_t unsettled;      /* changes that it left */
    uint64_t exchanged;    /* so many changes were put back or taken up */
    uint64_t gone, behind; /* operations gone through, without the latest since `behind` */
    uint8_t given_up[IX_MOST_LANES];
} ix_orders;

int ix_orders_open(ix_run *run);
void ix_orders_close(ix_run *run);

static inline int ix_orders_are_many(const ix_run *run)
{
    const ix_orders *o = run->lanes->orders;
    return (o->live & (o->live - 1)) != 0;
}

/* What is known of the operation is about to change. */
void ix_orders_keep_changed(ix_run *run, uint64_t op);

static inline void ix_orders_keep(ix_run *run, uint64_t op)
{
    if (ix_orders_are_many(run))
        ix_orders_keep_changed(run, op);
}

/* Room for more rows, in all orders. 0; -1: no memory. */
int ix_orders_more_rows(ix_run *run);

/* All streams wait: orders that are the same become one, and the one furthest behind goes on. */
void ix_orders_meet(ix_run *run);

/* The send that goes on now, of those that each lane takes; lanes with another have an order of
 * their own. */
uint64_t ix_orders_divide(ix_run *run);

/* Nothing more starts. 1: this order has come to its end, and another goes on. */
int ix_orders_ended(ix_run *run);

/* Whether a lane has no result, and how many operations were gone through. */
int ix_orders_gave_up(const ix_run *run, uint32_t lane);
uint64_t ix_orders_gone(const ix_run *run);

#endif
