/* Messages on their way to sharing links (share.c), gathered from a schedule (flows.c). */
#ifndef IMBREX_REPLAY_SHARE_H
#define IMBREX_REPLAY_SHARE_H

#include "engine.h"

typedef struct ix_flow {
    double ready_ns, work_ns;
    uint64_t op;
    uint32_t to;   /* a process */
    uint32_t next; /* of its connection: the flow behind it */
} ix_flow;

/* From one process to another, while something is under way. */
typedef struct ix_connection {
    double left_ns, at_ns, rate; /* of the first flow, as it was at a time */
    uint32_t first, last;        /* flows */
    uint32_t from, to;
    uint32_t place_out, place_in; /* in the lists of its two ends; the place of a free one names
                                   * the next free one */
} ix_connection;

typedef struct ix_list {
    uint32_t *of;
    uint32_t count, room;
    double level;  /* INFINITY: its connections do not fill it */
    uint32_t next; /* of those of which the level may have changed */
    int waits;
} ix_list;

typedef struct ix_end {
    ix_list out, in;     /* connections */
    uint32_t next, last; /* its flows, in the order in which they can start */
    double event_ns;     /* when the next of them starts, or one of `out` is through */
    uint32_t place;      /* in the heap */
} ix_end;

typedef struct ix_links {
    ix_flow *flows;
    ix_end *ends;
    uint32_t *heap; /* of processes, by their next event */
    uint32_t processes;
    ix_connection *connections;
    uint32_t used, room, unused; /* of the connections; the first free one */
    uint32_t first, last;        /* links of which the level may have changed */
    int failed;
} ix_links;

/* Let the flows of all ends go on their links; `shared_ns` of each send gets how much longer it
 * takes. Returns how many took longer; -1: no memory. */
int64_t ix_serve(ix_links *links, double *shared_ns);

#endif
