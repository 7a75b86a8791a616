/* When large messages are asked for, on a connection in which everything follows in order. */
#ifndef IMBREX_REPLAY_ENGINE_ANSWERS_H
#define IMBREX_REPLAY_ENGINE_ANSWERS_H

#include "run.h"

int ix_answers_open(ix_run *run);

/* Whether the message waits for an answer that keeps the order of the connection, and leaves its
 * sender for a buffer then. */
static inline int ix_is_answered(const ix_run *run, const ix_route *route, const ix_op *op)
{
    return run->asked && route->held == IX_HELD_BY_BOTH && ix_bytes(op) <= route->kept_bytes;
}

/* When the sender of a pending message hands it over, in `asked`; 0: that is not known yet. */
int ix_is_asked(ix_run *run, uint32_t stream, const ix_pending *send);

/* The receiver's side, as it posts the receive `op`. */
static inline void ix_posts(ix_run *run, uint32_t stream, uint64_t op)
{
    if (run->asked)
        run->asked[op].at_ns = run->streams[stream].left_ns;
}

/* Whether a send was handed over, so that its own wait is over though it has not arrived. */
static inline int ix_is_handed_over(const ix_run *run, uint64_t send)
{
    return run->asked && run->asked[send].at_ns >= 0;
}

/* A message has arrived: what waited behind it on either way is looked at again. */
void ix_answers_arrived(ix_run *run, uint32_t stream, uint64_t op);

#endif
