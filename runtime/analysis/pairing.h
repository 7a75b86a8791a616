/* Pairing of messages: the k-th send of a to b on (comm, tag) belongs to the k-th receive at b, in
 * the order of posting, that got a message of a with that tag. Each of two ranks tells the other
 * the times of its own sends and receives, in this order. A partitioned send begins, for the other
 * side, with its last MPI_Pready: before that its receive is not complete. */
#ifndef IMBREX_ANALYSIS_PAIRING_H
#define IMBREX_ANALYSIS_PAIRING_H

#include <stddef.h>

#include "analysis/log_view.h"
#include "analysis/partitions.h"
#include "analysis/rows.h"

/* One message as its sender or its receiver tells the other side; times are the teller's.
 * INT64_MAX: not seen. */
typedef struct ix_told {
    uint32_t comm;
    int32_t tag;
    uint32_t sequence;
    uint16_t kind;       /* enum ix_log_kind */
    uint8_t only_starts; /* between start_exit and end_enter: ix_only_starts_until_end */
    uint8_t undivided;   /* enum ix_undivided */
    int64_t bytes;
    int64_t start_enter, start_exit, end_enter, end_exit, between;
} ix_told;
_Static_assert(sizeof(ix_told) == 64, "sent as bytes");

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

/* How far the peers were told; starts as {0}. */
typedef struct ix_telling {
    uint32_t stream; /* in `order` */
    uint32_t told;   /* of its messages */
} ix_telling;

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

/* What to tell next, at most `room` messages: all of one peer. Returns how many; 0: that was all.
 */
uint32_t ix_pairing_tell(const ix_pairing *pairing, const ix_view *view, ix_telling *telling,
                         uint32_t room, ix_told *told, int32_t *peer);

/* What `peer` told, in its order (any part of it); the times are this rank's by now. */
void ix_pairing_hear(ix_pairing *pairing, ix_view *view, int32_t peer, const ix_told *told,
                     size_t count, int64_t error_ns);

/* After all was heard: probes wait for the message that the next receive of their stream got. */
void ix_pairing_probes(const ix_pairing *pairing, ix_view *view);

#endif
