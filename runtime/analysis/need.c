#include "analysis/need.h"

static ix_need of_send(const ix_op *op, const ix_match *m, const ix_class *class, int64_t exit_ns)
{
    int64_t posted = m->other.start_enter;
    ix_need n = {IX_LATE_RECEIVER, IX_LONG_AGO, posted + m->error_ns, IX_NEEDS};
    if (op->kind == IX_LOG_SYNC_SEND || (class->returns == 0 && op->kind == IX_LOG_SEND)) {
        n.certain = posted - m->error_ns;
    } else if (class->returns == 1 || op->kind == IX_LOG_BUFFERED_SEND) {
        n.possible = IX_LONG_AGO;
        n.how = IX_NEEDS_NOTHING;
    } else {
        n.how = IX_MAY_NEED;
        if (posted - m->error_ns >= exit_ns) /* this one did return before its match */
            n.possible = IX_LONG_AGO;
    }
    return n;
}

static ix_need of_collective(const ix_op *op, const ix_match *m)
{
    int64_t error = m->error_ns, last = m->all.last_enter, needed = m->all.needed_enter;
    ix_need n = {IX_LATE_COLLECTIVE, IX_LONG_AGO, last + error, IX_NEEDS};
    switch (op->kind) {
    case IX_LOG_ALL:
    case IX_LOG_EPOCH: /* a fence */
        n.certain = needed - error;
        break;
    case IX_LOG_FROM_ROOT:
        if (m->is_root)
            n.cause = IX_LATE_RECEIVER; /* those it sends to may have to be there first */
        else
            n.certain = m->all.root_enter - error;
        break;
    case IX_LOG_TO_ROOT:
        if (m->is_root)
            n.certain = needed - error;
        else
            n.cause = IX_LATE_RECEIVER;
        break;
    default: /* a scan or a neighbourhood: of which ranks is not known */
        break;
    }
    if (op->flags & IX_LOG_VARYING)
        n.certain = IX_LONG_AGO;
    return n;
}

/* The partitions move when they are ready, and may wait for the receive. */
static ix_need of_partitioned_send(const ix_match *m, int64_t enter_ns, int64_t exit_ns)
{
    int64_t posted = m->other.start_enter;
    if (m->other.ready_enter >= enter_ns) /* another thread was still to call MPI_Pready */
        return (ix_need){IX_UNATTRIBUTED, IX_LONG_AGO, IX_LONG_AGO, IX_UNMATCHED};
    ix_need n = {IX_LATE_RECEIVER, IX_LONG_AGO, posted + m->error_ns, IX_MAY_NEED};
    if (posted - m->error_ns >= exit_ns) /* this one did return before */
        n.possible = IX_LONG_AGO;
    return n;
}

/* One partition comes no sooner than the first is ready, and no later than all are. */
static ix_need of_arrival(const ix_match *m)
{
    return (ix_need){IX_LATE_SENDER, m->other.end_enter - m->error_ns,
                     m->other.start_enter + m->error_ns, IX_NEEDS};
}

ix_need ix_need_of(const ix_view *view, const ix_completed *c, const ix_op *call)
{
    const ix_op *op = &view->ops[c->op];
    const ix_match *m = &view->matches[c->op];
    if (op->kind == IX_LOG_PART_READY) /* in the call that makes it ready */
        return (ix_need){IX_UNATTRIBUTED, IX_LONG_AGO, IX_LONG_AGO, IX_NEEDS_NOTHING};
    if (m->state != IX_MATCHED) {
        /* Buffered sends and posts wait for nobody, whoever receives them. */
        int local = op->kind == IX_LOG_BUFFERED_SEND ||
                    (op->kind == IX_LOG_EXPOSURE && op->tag == IX_EPOCH_BEGINS) ||
                    (op->kind == IX_LOG_SEND && c->facts.class.returns == 1);
        return (ix_need){IX_UNATTRIBUTED, IX_LONG_AGO, IX_LONG_AGO,
                         local ? IX_NEEDS_NOTHING : IX_UNMATCHED};
    }
    if (ix_is_group_epoch(op->kind))
        return ix_need_of_group_epoch(view, c->op, call->exit_ns);
    if (op->kind == IX_LOG_PART_ARRIVED)
        return of_arrival(m);
    if (op->kind == IX_LOG_RECV || op->kind == IX_LOG_PROBE || op->kind == IX_LOG_PARTS_RECV)
        return ix_need_of_receive(m);
    if (ix_is_send(op))
        return of_send(op, m, &c->facts.class, call->exit_ns);
    if (op->kind == IX_LOG_PARTS_SEND)
        return of_partitioned_send(m, call->enter_ns, call->exit_ns);
    return of_collective(op, m);
}
