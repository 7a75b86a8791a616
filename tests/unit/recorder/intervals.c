/* Lengths of intervals between two calls, without MPI: prints those that are taken one by one. */
#include "access/intervals.h"

#include <stdio.h>

#include "access/watch.h"

double ixa_watch_without(double length, int hits)
{
    return length - hits;
}

static void take(uint64_t key, int count)
{
    for (int i = 0; i < count; i++)
        printf("%g ", ixa_interval_next(key));
    printf("\n");
}

int main(void)
{
    take(7, 2);
    for (int i = 0; i < 3; i++)
        ixa_interval_seen(7, 5 + i);
    ixa_interval_seen(7, -1);
    take(7, 5);
    for (int i = 0; i < 20; i++)
        ixa_interval_seen(9, i);
    take(9, 17);
    return 0;
}
