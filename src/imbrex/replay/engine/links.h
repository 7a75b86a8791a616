/* The links of processes, and the messages on their way through them, in the order of time. */
#ifndef IMBREX_REPLAY_LINKS_H
#define IMBREX_REPLAY_LINKS_H

#include <stdint.h>

typedef struct ix_flow {
    double ready_ns, work_ns;
    uint64_t op;
    uint32_t from, to; /* processes */
    uint32_t stream;   /* of the send */
    uint32_t next;     /* of its connection: the flow behind it; of a free one: the next free one */
} ix_flow;

/* A flow that begins at a time that has not come. */
typedef struct ix_start {
    double ready_ns;
    uint64_t op;
    uint32_t flow;
} ix_start;

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
    ix_list out, in; /* connections */
    double event_ns; /* when the first of `out` is through */
    uint32_t place;  /* in the heap */
} ix_end;

typedef struct ix_links {
    int in_order; /* messages to one peer follow each other; else all share */
    uint32_t processes;
    ix_flow *flows;
    uint32_t flows_used, flows_room, flows_unused; /* the first free one */
    ix_start *starts;                              /* a heap */
    uint32_t starts_count, starts_room;
    ix_end *ends;
    uint32_t *heap; /* of processes, by their next event */
    ix_connection *connections;
    uint32_t used, room, unused; /* of the connections; the first free one */
    uint32_t first, last;        /* links of which the level may have changed */
    int failed;                  /* no memory */
} ix_links;

/* A message that is through. */
typedef struct ix_through {
    uint64_t op;
    uint32_t stream;
    double at_ns, shared_ns; /* and how much longer it took because it was not alone */
} ix_through;

/* 0; -1: no memory. */
int ix_links_open(ix_links *links, uint32_t processes, int in_order);
void ix_links_close(ix_links *links);

/* A message that takes `work_ns` of a link that it has to itself, from ready_ns on. */
void ix_links_offer(ix_links *links, ix_flow flow);

/* Pass the next event: 0: there is none; 1: a message has begun; 2: one is through. */
int ix_links_pass(ix_links *links, ix_through *through);

#endif
