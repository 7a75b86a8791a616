#include "analysis/open_receives.h"

#include "core/bounds.h"

typedef struct open_receive {
    uint32_t comm; /* 0: any */
    int32_t peer, tag;
    int64_t enter_ns;
} open_receive;

enum { OPEN_RECEIVES = 16 };

static int is_open(const ix_op *op)
{
    return op->kind == IX_LOG_RECV && op->flags & IX_LOG_WILDCARD && op->sequence == 0 &&
           op->end_call == IX_NO_END && !(op->flags & (IX_LOG_CANCELLED | IX_LOG_UNCOUNTED));
}

/* The earliest of each kind; where there are too many kinds, one for all. */
static uint32_t find_open(const ix_view *view, open_receive *open)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (!is_open(op))
            continue;
        uint32_t k = 0;
        while (k < count && open[k].comm &&
               (open[k].comm != op->comm || open[k].peer != op->peer || open[k].tag != op->tag))
            k++;
        if (k == count && count < OPEN_RECEIVES)
            open[count++] = (open_receive){op->comm, op->peer, op->tag, op->enter_ns};
        else if (k == count)
            open[--k].comm = 0;
        open[k].enter_ns = ix_least(open[k].enter_ns, op->enter_ns);
    }
    return count;
}

static int may_precede(const open_receive *open, const ix_op *op)
{
    return open->enter_ns <= op->enter_ns &&
           (!open->comm ||
            (open->comm == op->comm && (open->peer == IX_LOG_ANY || open->peer == op->peer) &&
             (open->tag == IX_LOG_ANY_TAG || open->tag == op->tag)));
}

void ix_mark_behind_open(ix_view *view, const uint32_t *messages, uint32_t count)
{
    open_receive open[OPEN_RECEIVES];
    uint32_t open_count = find_open(view, open);
    for (uint32_t i = 0; i < count; i++) {
        const ix_op *op = &view->ops[messages[i]];
        if (op->kind != IX_LOG_RECV)
            continue;
        int unsure = view->receiving_since_ns && op->exit_ns > view->receiving_since_ns;
        for (uint32_t k = 0; k < open_count && !unsure; k++)
            unsure = may_precede(&open[k], op);
        if (unsure)
            view->matches[messages[i]].state = IX_AMBIGUOUS;
    }
}
