/* Epochs of groups of a window: whom a start, a post, a complete and a wait need. */
#include "analysis/need.h"

/* For how long a start that need not wait for a post may be busy. */
#define START_OWN_NS 20000

/* The start of the access epoch towards one target that a complete ends; IX_NO_END: not found. */
static uint32_t start_of(const ix_view *view, uint32_t complete)
{
    enum { LOOKED_AT = 4096 }; /* records */
    const ix_op *op = &view->ops[complete];
    uint32_t last = complete > LOOKED_AT ? complete - LOOKED_AT : 0;
    for (uint32_t j = complete; j-- > last && view->ops[j].thread == op->thread;) {
        const ix_op *start = &view->ops[j];
        if (start->kind == IX_LOG_ACCESS && start->tag == IX_EPOCH_BEGINS &&
            start->comm == op->comm && start->peer == op->peer && start->sequence == op->sequence)
            return view->matches[j].state == IX_MATCHED ? j : IX_NO_END;
    }
    return IX_NO_END;
}

/* A post waits for nobody, a wait for the completes of its origins. A start may wait for the posts
 * of its targets, and else its complete may. */
ix_need ix_need_of_group_epoch(const ix_view *view, uint32_t i, int64_t exit_ns)
{
    const ix_op *op = &view->ops[i];
    if (op->kind == IX_LOG_EXPOSURE)
        return op->tag == IX_EPOCH_ENDS
                   ? ix_need_of_receive(&view->matches[i])
                   : (ix_need){IX_UNATTRIBUTED, IX_LONG_AGO, IX_LONG_AGO, IX_NEEDS_NOTHING};
    uint32_t start = op->tag == IX_EPOCH_BEGINS ? i : start_of(view, i);
    if (start == IX_NO_END)
        return (ix_need){IX_UNATTRIBUTED, IX_LONG_AGO, IX_LONG_AGO, IX_UNMATCHED};
    const ix_match *m = &view->matches[start];
    int64_t posted = m->other.start_enter;
    ix_need n = {IX_LATE_RECEIVER, IX_LONG_AGO, posted + m->error_ns, IX_MAY_NEED};
    if (view->ops[start].flags & IX_LOG_VARYING || posted - m->error_ns >= exit_ns) {
        n.possible = IX_LONG_AGO; /* this one did return before */
        n.how = IX_NEEDS_NOTHING;
    } else if (start == i) {
        n.certain = posted - m->error_ns - START_OWN_NS;
    }
    return n;
}
