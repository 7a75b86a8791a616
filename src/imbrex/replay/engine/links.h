/* The links of processes, and the messages on their way through them, in the order of time. */
#ifndef IMBREX_REPLAY_LINKS_H
#define IMBREX_REPLAY_LINKS_H

#include <stdint.h>

#include "earliest.h"

typedef struct ix_flow {
    double ready_ns, work_ns;
    double flies_ns; /* from when it is through its link until it has arrived */
    uint32_t op;
    uint32_t from, to; /* processes */
    uint32_t stream;   /* of the send */
    uint32_t next;     /* the flow behind it in its queue or, once it has begun, in its connection;
                        * of a free one: the next free one */
} ix_flow;

/* A flow that begins at a time that has not come, as one number: the time, then the operation, then
 * the flow. So starts have an order that is found in one comparison. */
typedef unsigned __int128 ix_start;

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

enum { IX_FEW = 3, IX_LINE = 64 };

/* The connections of a link, in one line of the cache as long as they are few. */
typedef struct ix_list {
    uint32_t count, room;
    uint32_t waits;   /* while its level may have changed: the next of these links */
    uint32_t changes; /* of a link to send, while its event may have changed: the next of these
                       * processes */
    union {
        ix_entry few[IX_FEW];
        ix_entry *many; /* where `room` is more than IX_FEW */
    };
} ix_list;
_Static_assert(sizeof(ix_list) == IX_LINE, "each is in a line of its own");

static inline ix_entry *ix_entries(ix_list *list)
{
    return list->room > IX_FEW ? list->many : list->few;
}

typedef struct ix_links {
    int in_order; /* messages to one peer follow each other; else all share */
    uint32_t processes;
    ix_flow *flows;
    uint32_t flows_used, flows_room, flows_unused; /* the first free one */
    ix_start *starts; /* a heap of the first of each queue, and some behind it that never begin */
    uint32_t starts_count, starts_room;
    uint32_t *queued; /* of each stream: the last flow of its latest queue, or UINT32_MAX */
    ix_connection *connections;
    uint32_t used, room, unused; /* of the connections; the first free one */
    ix_list *links;              /* two of a process: to send and to receive */
    double *level;               /* of each link; INFINITY: its connections do not fill it */
    uint32_t first, last;        /* of the links of which the level may have changed */
    ix_earliest events;          /* of each process: when the first of its connections is through */
    uint32_t *event;             /* which one that is */
    uint32_t changed;            /* the first process of which the event may have changed */
    int failed;                  /* no memory */
} ix_links;

/* A message that is through. */
typedef struct ix_through {
    uint64_t op;
    uint32_t stream;
    double at_ns;     /* when it has arrived */
    double shared_ns; /* how much longer it took because it was not alone */
} ix_through;

/* 0; -1: no memory. */
int ix_links_open(ix_links *links, uint32_t processes, uint32_t streams, int in_order);
void ix_links_close(ix_links *links);

/* A message that takes `work_ns` of a link that it has to itself, from ready_ns on. */
void ix_links_offer(ix_links *links, ix_flow flow);

/* Pass the next event: 0: there is none; 1: a message has begun; 2: one is through. Of events at
 * the same time those that begin are first, in the order of their operations, and then those that
 * are through, in the order of the processes that send them. */
int ix_links_pass(ix_links *links, ix_through *through);

#endif
