#include "engine/stats.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

void samples_add(samples *s, double value)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + 256;
        s->values = realloc(s->values, s->room * sizeof *s->values);
        if (!s->values)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    s->values[s->count++] = value;
}

void samples_clear(samples *s)
{
    s->count = 0;
}

void samples_free(samples *s)
{
    free(s->values);
    memset(s, 0, sizeof *s);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_of_first(const samples *s, size_t count, double q)
{
    if (count == 0)
        return 0;
    double *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memcpy(sorted, s->values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    const double where = q * (double)(count - 1);
    const size_t below = (size_t)floor(where);
    const size_t above = below + 1 < count ? below + 1 : below;
    const double value = sorted[below] + (where - (double)below) * (sorted[above] - sorted[below]);
    free(sorted);
    return value;
}

double samples_quantile(const samples *s, double q)
{
    return quantile_of_first(s, s->count, q);
}

int samples_stable(const samples *s, size_t batch)
{
    if (s->count < 3 * batch)
        return 0;
    const size_t before = s->count - batch;
    const double high = samples_quantile(s, 0.95), low = samples_quantile(s, 0);
    return fabs(high - quantile_of_first(s, before, 0.95)) <= 0.03 * high &&
           quantile_of_first(s, before, 0) - low <= 0.03 * low;
}
