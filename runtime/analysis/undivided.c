#include "analysis/undivided.h"

#include <stdlib.h>

#include "analysis/completions.h"
#include "analysis/evidence.h"
#include "core/times.h"

int ix_receiver_moves(const ix_class *class)
{
    return class->known && class->rate_hi[0] == 0 && class->rate_hi[IX_SENDER_IN] == 0;
}

/* Nobody but the receiver moves it, so that it takes no time of its sender. */
static int leaves_its_sender_alone(const ix_op *op)
{
    if (!ix_is_send(op))
        return 0;
    ix_class class = ix_path_class(op->path, op->bytes);
    return ix_receiver_moves(&class);
}

/* Whether this process may spend time on it. */
static int takes_time(const ix_op *op)
{
    return op->bytes > 0 && ix_is_completed_by_call(op) && !leaves_its_sender_alone(op);
}

/* The first record of the call that record `i` belongs to. */
static uint32_t call_of(const ix_view *view, uint32_t i)
{
    while (i > 0 && !(view->ops[i].flags & IX_LOG_FIRST))
        i--;
    return i;
}

/* Calls that are not logged, other threads and windows may all move what no record tells. */
static int tells_all(const ix_view *view)
{
    if (!view->one_thread || !view->whole)
        return 0;
    for (uint32_t i = 0; i < view->count; i++)
        if (view->ops[i].kind == IX_LOG_EPOCH)
            return 0;
    return 1;
}

/* By call: how many transfers that may take time of this process are open while it runs. */
static void count_open(const ix_view *view, int32_t *open)
{
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (!takes_time(op))
            continue;
        open[call_of(view, i)]++;
        if (op->end_call != IX_NO_END) {
            uint32_t behind = op->end_call + 1;
            while (behind < view->count && !(view->ops[behind].flags & IX_LOG_FIRST))
                behind++;
            open[behind]--;
        }
    }
    for (uint32_t i = 1; i < view->count; i++)
        open[i] += open[i - 1];
}

int ix_mark_undivided(ix_view *view)
{
    if (!tells_all(view))
        return 0;
    const size_t room = view->count + (size_t)1;
    int32_t *open = calloc(room, sizeof *open);
    uint32_t *shared = calloc(room, sizeof *shared); /* calls up to here with several open */
    if (!open || !shared) {
        free(open);
        free(shared);
        return -1;
    }
    count_open(view, open);
    for (uint32_t i = 0; i < view->count; i++)
        shared[i + 1] = shared[i] + (open[i] > 1);
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if ((op->kind != IX_LOG_RECV && !ix_is_send(op)) || op->end_call == IX_NO_END)
            continue;
        uint32_t first = call_of(view, i), last = call_of(view, op->end_call);
        int one = takes_time(op);
        if (open[last] == one)
            view->matches[i].undivided = IX_UNDIVIDED_AT_ITS_END;
        if (one && shared[last + 1] == shared[first])
            view->matches[i].undivided = IX_UNDIVIDED;
    }
    free(open);
    free(shared);
    return 0;
}
