/* One pass for many networks that differ in latency and in the time per byte: beside each time that
 * the replay of the first of them finds stand those of all others, as the lanes of a vector.
 *
 * With messages one after the other, what a stream waits for does not depend on times, so that all
 * lanes go the same way; which of two messages is first on a link is asked in each lane. Only
 * where all streams wait the message that can start first decides what comes next: lanes in which
 * that is another one go on with an order of their own (orders.h), and only those of the order that
 * is gone on with are changed. */
#ifndef IMBREX_REPLAY_ENGINE_LANES_H
#define IMBREX_REPLAY_ENGINE_LANES_H

#include "rows.h"
#include "run.h"

typedef struct ix_lanes {
    const ix_network *networks; /* of each lane */
    ix_rows rows;               /* of operations, as long as somebody needs them */
    double *clock, *entered;    /* rows of the streams */
    double *latest, *free_ns;   /* rows of the processes' links */
    uint32_t *row;              /* of each operation its time: see ix_run.time_ns; or IX_NONE */
    uint32_t *entered_row;      /* see ix_run.entered_ns; NULL where that is */
    uint8_t *uses;              /* of each operation: how many others read its time yet */
    double *ready;              /* when the latest send that was asked for can start */
    double *first;              /* of the sends looked at while all wait: when the first can */
    uint64_t first_op[IX_MOST_LANES];
    double latency_ns[IX_ROUTES][IX_MOST_LANES], byte_ns[IX_ROUTES][IX_MOST_LANES];
    struct ix_orders *orders;
} ix_lanes;

/* 0; -1: no memory, or too wide for it. */
int ix_lanes_open(ix_run *run, const ix_wide *wide);
void ix_lanes_close(ix_run *run);

/* When the last stream ends, in each lane; NAN where its order was given up. */
void ix_lanes_result(ix_run *run, double *run_ns);

/* The stream computes, or is in a call, for so long. */
void ix_lanes_compute(ix_run *run, uint32_t stream, double ns);

/* The stream enters a call; in it, it completes `begun`. */
void ix_lanes_enter(ix_run *run, uint32_t stream);
void ix_lanes_completes(ix_run *run, uint32_t stream, uint64_t begun);

/* The receive is posted now. */
void ix_lanes_post(ix_run *run, uint32_t stream, uint64_t op);

/* The send is handed over now, and cannot start yet. */
void ix_lanes_keep(ix_run *run, uint32_t stream, uint64_t op);

/* When a send is ready: as far as its sender is concerned; and then not before the receive is
 * posted, the call that completes `index` is entered, or the other stream is where it is now. */
void ix_lanes_ready(ix_run *run, uint32_t stream, uint64_t op);
void ix_lanes_ready_posted(ix_run *run, uint64_t receive);
void ix_lanes_ready_completed(ix_run *run, uint64_t index);
void ix_lanes_ready_inside(ix_run *run, uint32_t stream, int ended);

/* All streams wait, and this send is one that could start. */
void ix_lanes_candidate(ix_run *run, uint64_t op, int is_first);

/* The send starts when it is ready; it takes no link to its own process, or where it is free. */
void ix_lanes_start(ix_run *run, uint32_t stream, uint64_t op, int is_free);

/* The stream waits until the operation is over, and a time more. */
void ix_lanes_take(ix_run *run, uint32_t stream, uint64_t op, double more_ns);

/* A probe sees that the send is announced. */
void ix_lanes_look(ix_run *run, uint32_t stream, uint32_t sender, uint64_t send);

/* A member is in its meeting; all are, and leave it. */
void ix_lanes_come(ix_run *run, uint32_t stream, uint64_t op);
void ix_lanes_meet(ix_run *run, const ix_meeting *meeting);

#endif
