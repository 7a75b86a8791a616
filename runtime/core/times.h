/* Transfer times: for a path and a size, or for a collective, the interval [X_lo, X_hi] and the
 * slack that was measured. Format and interpolation: docs/reference/machine-profile.md. */
#ifndef IMBREX_CORE_TIMES_H
#define IMBREX_CORE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#define IX_UNKNOWN (-1)

/* No size or time in a table is larger; what is extrapolated is cut here (13 days). */
#define IX_LONGEST_NS (INT64_C(1) << 50)

typedef struct ix_time {
    int64_t x_lo_ns, x_hi_ns; /* 0, 0 where nothing was calibrated */
    int64_t tail_ns, head_ns; /* IX_UNKNOWN where not measured */
    int64_t most_ns;          /* the largest X_hi of any size up to this one; of a collective: for
                                 how long its messages may move when ranks enter apart */
    int32_t calibrated;
} ix_time;

/* When data of a message moves, as a probe saw it: the share of the full rate, in thousandths, by
 * who is inside MPI. Index: IX_SENDER_IN | IX_RECEIVER_IN. */
enum { IX_SENDER_IN = 1, IX_RECEIVER_IN = 2, IX_RATE_ONE = 1000 };

typedef struct ix_class {
    int16_t rate_lo[4], rate_hi[4];
    int8_t returns; /* a send completes before its receive is posted: 1, 0, IX_UNKNOWN */
    uint8_t known;  /* the rates say something */
} ix_class;

/* Of a message of `bytes` (>= 0) over a path; all rates 0 to 1 where nothing was measured. */
__attribute__((visibility("hidden"))) ix_class ix_path_class(uint8_t path, int64_t bytes);

/* Who has to be inside MPI before a message moves, as a probe saw it: it waits for a handshake.
 * First the receiver, once the message is announced and its receive posted, then the sender, who
 * has the answer; calls that only start something do not count. */
typedef struct ix_handshake {
    int64_t before_ns;  /* what may have moved all the same before, in ns at the full rate */
    int64_t latency_ns; /* a word of one side reaches the other no sooner */
    uint8_t needs;      /* IX_SENDER_IN | IX_RECEIVER_IN; 0: nothing is known */
} ix_handshake;

/* Of a message of `bytes` (>= 0) over a path. */
__attribute__((visibility("hidden"))) ix_handshake ix_path_handshake(uint8_t path, int64_t bytes);

/* Of a message of `bytes` (> 0) over a path (enum ix_path). */
__attribute__((visibility("hidden"))) ix_time ix_path_time(uint8_t path, int64_t bytes);

/* The shortest time seen from a send's entry to the exit of a receive that waited for it, of a
 * message of `bytes` (> 0) or more over a path: latencies are in it, as they are not in X_lo.
 * 0: not known. */
__attribute__((visibility("hidden"))) int64_t ix_path_least_ns(uint8_t path, int64_t bytes);

/* Of a message over whichever path: most_ns is the largest of the calibrated paths. */
__attribute__((visibility("hidden"))) ix_time ix_any_path_time(int64_t bytes);

/* Of a collective; a role without a curve of its own takes that of role "any". */
__attribute__((visibility("hidden"))) ix_time
ix_collective_time(uint32_t operation, int32_t ranks, uint8_t role, uint8_t path, int64_t bytes);

/* How often a probe found that progress has to be driven; 0: unknown. */
__attribute__((visibility("hidden"))) int64_t ix_progress_interval_ns(void);

__attribute__((visibility("hidden"))) size_t ix_times_bytes(void);

#endif
