/* Times as integers of the same order, and which of some numbered things is first: a tournament.
 *
 * The leaves of a binary tree are the times of the things, and each node above has the lesser of
 * its two. A time that changes is compared on its way up without a branch, which nothing could
 * foresee. Of equal times that of the lowest number is first, so that what is first depends on
 * nothing that was before. */
#ifndef IMBREX_REPLAY_ENGINE_EARLIEST_H
#define IMBREX_REPLAY_ENGINE_EARLIEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IX_NEVER UINT64_MAX

static inline uint64_t ix_from_ns(double ns)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;
    ns += 0.0; /* both zeros are one time */
    memcpy(&bits, &ns, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static inline double ix_to_ns(uint64_t time)
{
    const uint64_t sign = (uint64_t)1 << 63;
    double ns;
    time = time & sign ? time & ~sign : ~time;
    memcpy(&ns, &time, sizeof ns);
    return ns;
}

typedef struct ix_earliest {
    uint64_t *at; /* of the nodes: the first is 1, those below k are 2 k and 2 k + 1 */
    uint32_t leaves;
} ix_earliest;

/* 0; -1: no memory. Nothing ever happens yet. */
static inline int ix_earliest_open(ix_earliest *e, uint32_t count)
{
    e->leaves = 1;
    while (e->leaves < count)
        e->leaves *= 2;
    e->at = malloc(2 * (size_t)e->leaves * sizeof *e->at);
    for (uint32_t k = 0; e->at && k < 2 * e->leaves; k++)
        e->at[k] = IX_NEVER;
    return e->at ? 0 : -1;
}

static inline void ix_earliest_set(ix_earliest *e, uint32_t number, uint64_t at)
{
    uint64_t *of = e->at;
    uint32_t k = e->leaves + number;
    of[k] = at;
    while (k > 1) {
        uint64_t other = of[k ^ 1];
        at = other < at ? other : at;
        k /= 2;
        if (of[k] == at)
            break;
        of[k] = at;
    }
}

static inline uint64_t ix_earliest_time(const ix_earliest *e)
{
    return e->at[1];
}

static inline uint32_t ix_earliest_number(const ix_earliest *e)
{
    const uint64_t *of = e->at, first = of[1];
    uint32_t k = 1;
    while (k < e->leaves) {
        k *= 2;
        k += of[k] != first;
    }
    return k - e->leaves;
}

#endif
