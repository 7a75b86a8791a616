/* The difference of two ranks' clocks, and how well it is known. */
#ifndef IMBREX_PROBES_CLOCKS_H
#define IMBREX_PROBES_CLOCKS_H

#include "engine/engine.h"

typedef struct clock_difference {
    int64_t ahead_ns;      /* partner's clock minus leader's */
    int64_t error_ns;      /* at most this wrong */
    int64_t round_trip_ns; /* the shortest seen */
} clock_difference;

/* Both ranks of the pair call this and get the same answer. */
clock_difference compare_clocks(engine *e, const pair *p);
#endif
