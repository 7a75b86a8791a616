/* Transfer times: for a path and a size, or for a collective, the interval [X_lo, X_hi] and the
 * slack that was measured. Format and interpolation: docs/machine-profile.md. */
#ifndef IMBREX_TIMES_H
#define IMBREX_TIMES_H

#include <stdint.h>

#define IX_UNKNOWN (-1)

typedef struct ix_time {
    int64_t x_lo_ns, x_hi_ns; /* 0, 0 where nothing was calibrated */
    int64_t tail_ns, head_ns; /* IX_UNKNOWN where not measured */
    int64_t most_ns;          /* the largest X_hi of any size up to this one */
    int32_t calibrated;
} ix_time;

#endif
