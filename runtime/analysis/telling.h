/* What two ranks tell each other of the messages between them: the times of their own sends and
 * receives, in the order in which they are paired. A partitioned send begins, for the other side,
 * with its last MPI_Pready: before that its receive is not complete. */
#ifndef IMBREX_ANALYSIS_TELLING_H
#define IMBREX_ANALYSIS_TELLING_H

#include <stddef.h>

#include "analysis/log_view.h"
#include "analysis/pairing.h"

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

/* How far the peers were told; starts as {0}. */
typedef struct ix_telling {
    uint32_t stream; /* in `order` */
    uint32_t told;   /* of its messages */
} ix_telling;

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
