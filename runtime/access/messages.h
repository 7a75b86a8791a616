/* Messages and their elements' produce and consume times, over the iterations of one process. */
#ifndef IMBREX_ACCESS_MESSAGES_H
#define IMBREX_ACCESS_MESSAGES_H

#include "layout.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { IXA_MESSAGES = 1024, IXA_ANCHORS = 5, IXA_SAMPLES = 15 };

/* Sums over iterations of one element: how long before the send it was last written, or after the
 * arrival first read; in accesses and on the clean clock. `other`: of a send, not written since the
 * send before; of a receive, written before anything read it. */
typedef struct {
    double accesses, ns, ns_squared;
    uint32_t count, other;
} ixa_element_t;

/* A call site, a peer (of comm, and of MPI_COMM_WORLD: negative if any), a tag and a layout.
 * Anchors are the elements that the clean run watched. */
typedef struct {
    const void *site;
    MPI_Comm comm;
    int is_send, peer, tag, world_peer;
    int count, size;
    MPI_Aint extent, true_lower, true_extent;
    ixa_layout_t layout;
    ixa_element_t *element;
    uint64_t calls, previous; /* on the clock of accesses: the send before */
    double first_ns, last_ns;
    uint32_t tries, samples[IXA_ANCHORS];
    double anchor_ns[IXA_ANCHORS][IXA_SAMPLES];
} ixa_message_t;

extern ixa_message_t ixa_messages[IXA_MESSAGES];
extern size_t ixa_message_count;
/* Messages and receives that found no place or no memory. */
extern uint64_t ixa_dropped;

/* The element of the message that anchor `a` is. */
size_t ixa_anchor_element(const ixa_message_t *message, int a);

/* A receive that was posted and has not arrived. */
typedef struct {
    ixa_message_t *message;
    uintptr_t buffer;
} ixa_receive_t;

/* A send starts; a receive is posted and, later, its data are there. `site` is the caller. All
 * within the outermost MPI call; otherwise, and for what moves nothing, they do nothing. */
void ixa_send(const void *site, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
              MPI_Comm comm);
ixa_receive_t ixa_post(const void *site, void *buffer, int count, MPI_Datatype type, int peer,
                       int tag, MPI_Comm comm);
void ixa_arrived(ixa_receive_t receive);

/* Take over what is still awaited, and write the results of this rank. */
void ixa_messages_finish(void);
void ixa_write_results(void);

#endif
