/* What a replay under way knows: of each stream, of each process' link, of sends that cannot start
 * yet. */
#ifndef IMBREX_REPLAY_RUN_H
#define IMBREX_REPLAY_RUN_H

#include "engine.h"
#include "links.h"

/* time_ns of an operation before it is known: IX_UNKNOWN, or that a stream waits for it, behind
 * which (ix_stream.queued) stand others that do. */
#define IX_UNKNOWN (-1.0)
static inline double ix_wanted_by(uint32_t stream)
{
    return -2.0 - stream;
}

static inline uint32_t ix_first_waiting(double time_ns)
{
    return time_ns < IX_UNKNOWN ? (uint32_t)(-2.0 - time_ns) : UINT32_MAX;
}

typedef struct ix_pending {
    uint64_t op;
    double ready_ns; /* negative: it has started */
} ix_pending;

/* Of a send that is asked for (answers.c): when its sender hands it over, and what let it. Of a
 * receive at_ns is when its process had last been waiting before it posted it. */
typedef struct ix_asked {
    double at_ns;
    uint32_t before; /* the send to the same peer that was handed over before */
    uint32_t next;   /* of the latest send to a peer: that to another */
    uint32_t from;
    uint8_t why, at_posting;
} ix_asked;

/* What every operation needs stands in the first line of the cache. */
typedef struct ix_stream {
    _Alignas(IX_LINE) double clock_ns;
    double entered_ns; /* the call that it is in */
    double left_ns;    /* when it last waited */
    uint64_t next, end;
    uint64_t call;  /* first operation of that call */
    uint64_t waits; /* the operation that it waits for, where nobody else is told; or UINT64_MAX */
    int8_t resumed; /* the operation `next` was begun */
    int8_t over;
    uint32_t queued; /* the stream behind it in the queue of those that can go on, or of those that
                      * wait for the same message */
    uint32_t sends_first, sends_end, sends_room;
    uint32_t handed;   /* the latest sends that were handed over, of each peer one; or IX_NONE */
    ix_pending *sends; /* that could not start yet, in the order of the program */
} ix_stream;

typedef struct ix_link {
    double latest_ns, free_ns; /* when the latest so far could start, and when all are through */
    uint32_t last;             /* the send that ends last */
} ix_link;

enum { IX_TOO_WIDE = 2 };

typedef struct ix_run {
    const ix_schedule *schedule;
    const ix_network *network;
    ix_times *times;
    double *time_ns;
    ix_stream *streams;
    ix_link *links;
    ix_links shared;    /* where messages share them */
    uint32_t *missing;  /* of each meeting: members that have not come */
    double *entered_ns; /* of each operation that a held transfer begins: the call that completes
                         * it; NULL where none is held */
    uint32_t *entered_op;
    ix_asked *asked;        /* of each operation; NULL where no answer has to be in order */
    struct ix_lanes *lanes; /* NULL: of one network (lanes.h) */
    double *enter, *leave, *scratch; /* of the members of a meeting */
    uint32_t *from;
    uint32_t head, tail; /* of the queue; IX_NONE: it is empty */
    uint64_t waiting;    /* sends that could not start yet */
    uint32_t awaiting;   /* streams that wait for a send of their own process */
    int failed;          /* no memory; IX_TOO_WIDE: less than it would need */
} ix_run;

/* All that waited for a message whose time_ns was `time_ns`. */
void ix_wake_all(ix_run *run, double time_ns);
int ix_run_start(ix_run *run);
void ix_run_end(ix_run *run);

void ix_wake(ix_run *run, uint32_t stream);

/* Wake the threads of this stream's process that wait for the operation. */
void ix_wake_waiting(ix_run *run, uint32_t stream, uint64_t op);

/* The send `op` of `stream` can start at ready_ns as far as the sender is concerned. */
void ix_send_issued(ix_run *run, uint32_t stream, uint64_t op, double ready_ns);

/* Something that this send may have waited for is known now. */
void ix_start_pending(ix_run *run, uint32_t stream, uint64_t op);

/* A message that shared its links is through. */
void ix_send_through(ix_run *run, const ix_through *through);

/* All streams wait: start the send that can first, though it stands behind others, or though the
 * calls that would complete it are not reached. 0: there is none. */
int ix_start_out_of_turn(ix_run *run);

/* When the message of a pending send was announced to its receiver; negative: it is not pending. */
double ix_announced_ns(const ix_run *run, uint32_t stream, uint64_t op);

/* Whether a message starts without its receive. */
static inline int ix_is_eager(const ix_run *run, const ix_route *route, const ix_op *op,
                              uint64_t index)
{
    if (op->partner == IX_NONE || op->flags & IX_UNASKED || ix_bytes(op) <= route->eager_bytes)
        return 1;
    return run->network->free_site >= 0 &&
           ix_is_site(run->schedule, op, (int64_t)index, run->network->free_site);
}

/* Whether a wait for a put does not wait: its memory is free at once. */
static inline int ix_is_over_at_once(const ix_run *run, const ix_op *wait)
{
    const ix_op *put = &run->schedule->ops[wait->partner];
    return wait->flags & IX_AT_ORIGIN &&
           ix_bytes(put) <=
               ix_route_of(run->schedule, run->network, wait->peer, put->peer)->eager_bytes;
}

#endif
