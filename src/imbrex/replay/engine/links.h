/* The links of processes, and the messages on their way through them, in the order of time. */
#ifndef IMBREX_REPLAY_LINKS_H
#define IMBREX_REPLAY_LINKS_H

#include <stdint.h>

typedef struct ix_flow {
    double ready_ns, work_ns;
    double flies_ns; /* from when it is through its link until it has arrived */
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

/* A connection as one of its ends has it. */
typedef struct ix_entry {
    uint32_t connection;
    uint32_t other;    /* the link at its other end */
    double through_ns; /* where it begins: when its first flow is through at its rate */
} ix_entry;

enum { IX_FEW = 4 };

/* The connections of a link. */
typedef struct ix_list {
    ix_entry *of; /* `few` as long as they suffice */
    uint32_t count, room;
    ix_entry few[IX_FEW];
} ix_list;

/* When the first connection of a process is through. */
typedef struct ix_event {
    double at_ns;
    uint32_t process;
    uint32_t connection;
} ix_event;

typedef struct ix_links {
    int in_order; /* messages to one peer follow each other; else all share */
    uint32_t processes;
    ix_flow *flows;
    uint32_t flows_used, flows_room, flows_unused; /* the first free one */
    ix_start *starts;                              /* a heap, and one that never begins */
    uint32_t starts_count, starts_room;
    ix_connection *connections;
    uint32_t used, room, unused; /* of the connections; the first free one */
    ix_list *links;              /* two of a process: to send and to receive */
    double *level;               /* of each link; INFINITY: its connections do not fill it */
    uint32_t *waits; /* of each link of which the level may have changed: the next of these */
    uint32_t first, last;
    ix_event *heap;    /* of processes, and one that never happens */
    uint32_t *place;   /* of each process in it */
    uint32_t *changes; /* of each process of which the event may have changed: the next of these */
    uint32_t changed;
    int failed; /* no memory */
} ix_links;

/* A message that is through. */
typedef struct ix_through {
    uint64_t op;
    uint32_t stream;
    double at_ns;     /* when it has arrived */
    double shared_ns; /* how much longer it took because it was not alone */
} ix_through;

/* 0; -1: no memory. */
int ix_links_open(ix_links *links, uint32_t processes, int in_order);
void ix_links_close(ix_links *links);

/* A message that takes `work_ns` of a link that it has to itself, from ready_ns on. */
void ix_links_offer(ix_links *links, ix_flow flow);

/* Pass the next event: 0: there is none; 1: a message has begun; 2: one is through. */
int ix_links_pass(ix_links *links, ix_through *through);

#endif
