/* Pairing of messages: the k-th send of a to b on (comm, tag) belongs to the k-th receive at b, in
 * the order of posting, that got a message of a with that tag. Here each rank puts its own sends
 * and receives in that order; telling.h has what ranks tell each other of them. */
#ifndef IMBREX_ANALYSIS_PAIRING_H
#define IMBREX_ANALYSIS_PAIRING_H

#include <stddef.h>

#include "analysis/log_view.h"
#include "analysis/partitions.h"
#include "analysis/rows.h"

/* The messages that this rank sent to a peer, or received from it, with one tag. */
typedef struct ix_stream {
    int32_t peer; /* in MPI_COMM_WORLD */
    int32_t tag;
    uint32_t comm;
    uint32_t side;         /* 1: receives, 0: sends; 2 more: of partitioned ones */
    uint32_t first, count; /* where they are in `messages`, by sequence */
    uint32_t next;         /* behind the one that was heard of last */
    uint32_t in_time;      /* they were posted in this order */
} ix_stream;

typedef struct ix_pairing {
    uint32_t *messages; /* records, stream after stream */
    uint32_t count;
    ix_rows streams;  /* ix_stream */
    uint32_t *order;  /* numbers of streams: by peer, then receives before sends, comm, tag */
    uint32_t *probes; /* the records that wait for a message another record receives */
    uint32_t probe_count;
    ix_ready *ready; /* by record of a partitioned send; NULL: there is none */
} ix_pairing;

/* Which rank of MPI_COMM_WORLD `peer` of `comm` is; -1: none; IX_OTHER_TIME: one whose clock cannot
 * be compared. */
enum { IX_OTHER_TIME = -2 };
typedef int32_t ix_world_rank(const void *context, uint32_t comm, int32_t peer);

/* Put the messages in order, and say of those that cannot be paired why, in view->matches. The
 * logged numbers of a stream's receives are given to them in the order of posting. 0, or -1 without
 * memory. */
int ix_pairing_start(ix_pairing *pairing, ix_view *view, ix_world_rank *world_rank,
                     const void *context);
void ix_pairing_end(ix_pairing *pairing);

ix_stream *ix_stream_numbered(const ix_pairing *pairing, uint32_t number);

/* `side` of what a record of that kind and tag is about. */
uint32_t ix_stream_side(uint32_t kind, int32_t tag);

/* What finds the stream of an operation with `peer`. */
ix_stream ix_stream_key(const ix_op *op, int32_t peer);

#endif
