#include "engine/scheduling.h"

#include <stdio.h>

double waited_for_core_ns(void)
{
    double ran, waited = -1;
    FILE *f = fopen("/proc/thread-self/schedstat", "r"); /* sched-stats(5) of Linux */
    if (f) {
        if (fscanf(f, "%lf %lf", &ran, &waited) != 2)
            waited = -1;
        fclose(f);
    }
    return waited;
}
