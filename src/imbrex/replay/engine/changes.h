/* What an order of lanes (orders.h) has changed since there was one order: of each operation what
 * is known of it, never its times in the lanes. */
#ifndef IMBREX_REPLAY_ENGINE_CHANGES_H
#define IMBREX_REPLAY_ENGINE_CHANGES_H

#include "lanes.h"

/* As it was when there was one order, or as an order has it. */
typedef struct ix_changed {
    uint64_t op;
    double time_ns, entered_ns;
    uint32_t entered_op, row, entered_row;
    uint8_t uses;
} ix_changed;

/* As it is in the order that is gone on with. */
ix_changed ix_changed_now(const ix_run *run, uint64_t op);

/* Another operation that the order with this number has changed. 0; -1: no memory. */
int ix_changed_add(ix_run *run, uint32_t number, ix_changed change);

/* What the order has changed as it was before, or again as the order has it. */
void ix_changed_exchange(ix_run *run, uint32_t number);

/* Whether the same is known of an operation. */
int ix_changed_equal(const ix_changed *one, const ix_changed *other);

/* How an operation stands in an order that is not gone on with, of those that it or the one that is
 * has changed; NULL: there are no more behind `place`, which begins with 0. */
const ix_changed *ix_changed_each(const ix_run *run, uint32_t other, size_t *place);

/* Operations that are past in all orders, in the same way, are changes of none any more. */
void ix_changed_settle(ix_run *run);

#endif
