/* Pairing of messages: the k-th send of a to b on (comm, tag) belongs to the k-th receive at b, in
 * the order of posting, that got a message of a with that tag. Each of two ranks tells the other
 * the times of its own sends and receives, in this order. */
#ifndef IMBREX_ANALYSIS_PAIRING_H
#define IMBREX_ANALYSIS_PAIRING_H

#include <stddef.h>

#include "analysis/log_view.h"

/* One message as its sender or its receiver tells the other side; times are the teller's.
 * INT64_MAX: not seen. */
typedef struct ix_told {
    uint32_t comm;
    int32_t tag;
    uint32_t sequence;
    uint32_t kind; /* enum ix_log_kind */
    int64_t bytes;
    int64_t start_enter, start_exit, end_enter, end_exit, between;
} ix_told;
_Static_assert(sizeof(ix_told) == 64, "sent as bytes");

/* A message of this rank, in the order in which it is told. */
typedef struct ix_own_message {
    uint32_t op;
    int32_t peer; /* in MPI_COMM_WORLD */
} ix_own_message;

typedef struct ix_pairing {
    ix_own_message *messages; /* by peer, then receives before sends, comm, tag, sequence */
    uint32_t count;
    uint32_t *probes; /* the records that wait for a message another record receives */
    uint32_t probe_count;
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

/* The messages from `first` on that go to or come from the same peer: returns how many. */
uint32_t ix_pairing_run(const ix_pairing *pairing, uint32_t first);

/* What to tell the peer of messages[first .. first + count). */
void ix_pairing_tell(const ix_pairing *pairing, const ix_view *view, uint32_t first, uint32_t count,
                     ix_told *told);

/* What `peer` told, in its order (any part of it); the times are this rank's by now. */
void ix_pairing_hear(const ix_pairing *pairing, ix_view *view, int32_t peer, const ix_told *told,
                     size_t count, int64_t error_ns);

/* After all was heard: probes wait for the message that the next receive of their stream got. */
void ix_pairing_probes(const ix_pairing *pairing, ix_view *view);

#endif
