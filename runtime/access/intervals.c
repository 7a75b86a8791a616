#include "access/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "access/watch.h"

enum { KINDS = 1 << 12, LENGTHS = 15, TRIES = 16 };

/* The last lengths of intervals between the same two calls that nothing disturbed. */
typedef struct {
    uint64_t key;
    uint32_t count, seen, accessed, taken;
    float lengths[LENGTHS];
    uint64_t accesses; /* in `accessed` intervals */
} kind_t;

static kind_t interval_kinds[KINDS];

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static kind_t *kind_of(uint64_t key)
{
    for (uint64_t i = 0; i < TRIES; i++) {
        kind_t *one = &interval_kinds[(key + i) % KINDS];
        if (one->key == key || one->key == 0) {
            one->key = key;
            return one;
        }
    }
    return NULL;
}

static void add(kind_t *kind, double length)
{
    kind->lengths[kind->count++ % LENGTHS] = (float)length;
}

static double median(const kind_t *kind)
{
    float sorted[LENGTHS];
    size_t count = kind->count < LENGTHS ? kind->count : LENGTHS;
    if (count == 0)
        return -1;
    memcpy(sorted, kind->lengths, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted[count / 2];
}

double ixa_undisturbed(uint64_t key, double length, int hits)
{
    kind_t *kind = kind_of(key);
    if (kind && hits == 0)
        add(kind, length);
    if (hits == 0)
        return length;
    double known = kind ? median(kind) : -1;
    return known < 0 ? ixa_watch_without(length, hits) : known;
}

uint32_t ixa_interval_seen(uint64_t key, double length)
{
    kind_t *kind = kind_of(key);
    if (!kind)
        return 0;
    if (length >= 0)
        add(kind, length);
    return ++kind->seen;
}

void ixa_interval_accessed(uint64_t key, uint64_t accesses)
{
    kind_t *kind = kind_of(key);
    if (!kind)
        return;
    kind->accessed++;
    kind->accesses += accesses;
}

double ixa_interval_accesses(uint64_t key)
{
    const kind_t *kind = kind_of(key);
    return kind && kind->accessed ? (double)kind->accesses / kind->accessed : 0;
}

double ixa_interval_next(uint64_t key)
{
    kind_t *kind = kind_of(key);
    if (!kind || !kind->count)
        return -1;
    uint32_t stored = kind->count < LENGTHS ? kind->count : LENGTHS;
    return kind->lengths[(kind->count - stored + kind->taken++ % stored) % LENGTHS];
}
