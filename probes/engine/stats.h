/* Samples of a time, and their order statistics. */
#ifndef IMBREX_PROBES_STATS_H
#define IMBREX_PROBES_STATS_H

#include <stddef.h>

typedef struct samples {
    double *values;
    size_t count;
    size_t room;
} samples;

void samples_add(samples *s, double value);
void samples_clear(samples *s);
void samples_free(samples *s);
/* The quantile 0 <= q <= 1, linear between order statistics; of no samples 0. */
double samples_quantile(const samples *s, double q);
/* Whether the last `batch` samples changed neither minimum nor 95th percentile by more than 3 %. */
int samples_stable(const samples *s, size_t batch);
#endif
