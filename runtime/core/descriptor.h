/* The transfer descriptor: what the engine knows of a transfer when it begins. */
#ifndef IMBREX_CORE_DESCRIPTOR_H
#define IMBREX_CORE_DESCRIPTOR_H

#include <stdint.h>

#include "core/part.h"
#include "core/times.h"
#include "core/transfer.h"

/* Besides enum ix_transfer_flags, in the same byte. */
enum ix_descriptor_flags {
    IX_NEEDS_PROGRESS = 8, /* counted among the open transfers that move only inside calls */
    IX_RESOLVED = 16,    /* its row, X and slack_ns are known, or it is in no row: its end needs no
                          * look-up */
    IX_UNCOUNTED = 32,   /* in no row: dropped in a pause, or left to another source */
    IX_UNKNOWN_END = 64, /* freed, cancelled, no room */
    IX_UNSIZED = 128,    /* unknown end of a receive or a cancelled transfer: X_lo = 0, bytes = 0 */
};

/* First the line of the cache that the end of a resolved transfer needs, then what is needed to
 * look up another X, slack or row for it. */
typedef struct ix_descriptor {
    int64_t bytes;
    int64_t x_lo_ns, x_hi_ns;
    int64_t slack_ns; /* of a resolved one: for how long data may move outside begin and end */
    int64_t open_ns;  /* what it adds to the engine's begun_ns */
    ix_row *row;      /* of the thread that began it; NULL: to be looked up, or in none */
    int32_t site;
    uint16_t operation;
    uint16_t section;
    uint8_t path, slack, flags;
    uint8_t role;
    uint8_t source;
    uint8_t calibrated;
    uint16_t x_operation; /* of the collective's calibration */
    int64_t tail_ns, head_ns, most_ns;
    int32_t ranks;
    int32_t listed; /* of an open one: its place in the list of those that need progress, plus 1 */
} ix_descriptor;
_Static_assert(sizeof(ix_descriptor) == 96, "a line and a half of the cache");

typedef struct ix_thread ix_thread;

/* The clocks of a thread: what passed of each kind since it was attached. */
typedef struct ix_clocks {
    int64_t compute_ns, call_ns, paused_ns;
} ix_clocks;

/* A transfer under way: where its thread's clocks stood when it began, and what it is. */
typedef struct ix_open {
    ix_clocks begin;
    ix_thread *thread;
    ix_descriptor descriptor;
} ix_open;

#endif
