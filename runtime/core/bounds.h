/* The bounds on the hidden and the exposed part of one transfer: docs/theory/measuring.md,
 * "Bounds". */
#ifndef IMBREX_CORE_BOUNDS_H
#define IMBREX_CORE_BOUNDS_H

#include <stdint.h>

typedef struct ix_bounds {
    int64_t overlap_min_ns, overlap_max_ns;
    int64_t exposed_min_ns, exposed_max_ns;
    uint8_t contradicted; /* x_lo does not fit into the time there was */
    uint8_t undetermined; /* the slack is the whole transfer */
} ix_bounds;

static inline int64_t ix_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t ix_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* compute_ns and call_ns between begin and end, slack_ns outside of them; all >= 0. */
static inline ix_bounds ix_bound(int64_t x_lo_ns, int64_t x_hi_ns, int64_t compute_ns,
                                 int64_t call_ns, int64_t slack_ns)
{
    ix_bounds b = {0};
    if (slack_ns >= x_hi_ns) {
        b.undetermined = x_hi_ns > 0;
        slack_ns = x_hi_ns;
    }
    b.overlap_max_ns = ix_least(x_hi_ns, compute_ns + slack_ns);
    b.exposed_max_ns = ix_least(x_hi_ns, call_ns + slack_ns);
    if (x_lo_ns > compute_ns + call_ns + slack_ns) {
        b.contradicted = 1;
        return b;
    }
    b.overlap_min_ns = ix_most(0, x_lo_ns - call_ns - slack_ns);
    b.exposed_min_ns = ix_most(0, x_lo_ns - compute_ns - slack_ns);
    return b;
}

#endif
