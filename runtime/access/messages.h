/* Messages and their elements' produce and consume times, over the iterations of one process. */
#ifndef IMBREX_ACCESS_MESSAGES_H
#define IMBREX_ACCESS_MESSAGES_H

#include "access/access.h"
#include "access/ranges.h"

/* The shadow in use: the instrumented program's, or our own, which sees no accesses. */
extern IX_HIDDEN ixa_memory_t *ixa_memory;

enum { IXA_MESSAGES = 1024, IXA_ANCHORS = 5, IXA_SAMPLES = 15, IXA_TOUCHES = 4 };

/* Code in another image than the message's call site that the watchpoint met; the return address
 * of the call that led there, NULL if it was not found. */
typedef struct {
    const void *code, *call;
    uint32_t count;
} ixa_touch_t;

/* Sums over iterations of one element: how long before the send it was last written, or after the
 * arrival first read; in accesses and on the clean clock. `other`: of a send, not written since the
 * send before; of a receive, written before anything read it. */
typedef struct {
    double accesses, ns, ns_squared;
    uint32_t count, other;
} ixa_element_t;

/* A call site, a peer (of comm, and of MPI_COMM_WORLD: negative if any), a tag and a layout: the
 * offsets of the elements from the buffer, in the order of the message. The element is the basic
 * type that the data are made of; bytes and characters are taken 8 or 4 at a time where they lie
 * so. Anchors are the elements that the clean run watched. */
typedef struct {
    const void *site;
    int thread; /* the number of its timeline */
    uint32_t operation;
    MPI_Comm comm;
    int is_send, collective, peer, tag, world_peer;
    int32_t processes; /* of comm; of both groups where there are two */
    uint32_t number;   /* among those that are not of collectives: as the trace names it */
    uint64_t signature;
    size_t elements, element_bytes;
    ptrdiff_t *offset;
    ptrdiff_t low, high; /* of all its bytes; high is behind the last */
    ixa_element_t *element;
    /* The same of the origins that all elements were packed from, or where they were unpacked to;
     * in how many calls they were, and were not. NULL if never. */
    ixa_element_t *copied;
    uint64_t copied_calls, direct_calls;
    uint64_t before;          /* messages that came before recording began */
    uint64_t calls, previous; /* position on the clock of accesses: the send before */
    double first_ns, last_ns;
    uint32_t tries, samples[IXA_ANCHORS];
    double anchor_ns[IXA_ANCHORS][IXA_SAMPLES];
    ixa_touch_t touched[IXA_TOUCHES];
    uint32_t touches, calls_sought;
    /* Of a send: the values that the last one had, and where it was; elements, over all calls, that
     * were others although no write was seen. */
    uint64_t *value, unseen;
    uintptr_t sent_from;
} ixa_message_t;

extern IX_HIDDEN ixa_message_t ixa_messages[IXA_MESSAGES];
extern IX_HIDDEN size_t ixa_message_count;
/* Messages and receives that found no place or no memory. */
extern IX_HIDDEN uint64_t ixa_dropped;

/* Whether its elements are followed through a copy, in every call but those that left it open. */
static inline int ixa_is_copied(const ixa_message_t *m)
{
    return m->copied_calls > 0 && m->direct_calls == 0;
}

/* The element of the message that anchor `a` is. */
IX_HIDDEN size_t ixa_anchor_element(const ixa_message_t *message, int a);

/* A receive that was posted and has not arrived. */
typedef struct {
    ixa_message_t *message;
    uintptr_t buffer;
    int32_t posted; /* its place in the trace */
    int is_early;   /* before recording began */
} ixa_receive_t;

/* A send starts; a receive is posted and, later, its data are there. `site` is the caller. A
 * message without data has no elements; a collective's buffer that moves nothing is ignored. */
IX_HIDDEN void ixa_send(const void *site, uint32_t operation, const ix_buffer *buffer);
IX_HIDDEN ixa_receive_t ixa_post(const void *site, uint32_t operation, const ix_buffer *buffer);
IX_HIDDEN void ixa_arrived(ixa_receive_t receive);
/* A receive from any rank or with any tag is the one of the message that it has taken: from
 * `source` of its communicator. */
IX_HIDDEN ixa_receive_t ixa_taken(ixa_receive_t receive, int source, int tag);

/* Take over what is still awaited, and write the results of this rank. */
IX_HIDDEN void ixa_messages_finish(void);
IX_HIDDEN void ixa_write_results(void);

#endif
