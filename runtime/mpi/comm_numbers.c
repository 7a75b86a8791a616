#include "mpi/comm_numbers.h"

#include <stdlib.h>

#include "core/call_logging.h"

enum { PROMISES = 8 };

/* How many there were with the same members. */
typedef struct counted {
    uint64_t members;
    uint32_t created;
    uint32_t promises;
    uint32_t promised[PROMISES]; /* numbers given to what was not met yet, oldest first */
} counted;

static counted *known;
static uint32_t known_count, known_room;

static uint64_t hash_of(ix_members group)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < group.count; i++)
        hash = (hash ^ (uint32_t)group.ranks[i]) * UINT64_C(0x100000001b3);
    return (hash ^ (uint32_t)group.count) * UINT64_C(0x9e3779b97f4a7c15);
}

static counted *find(uint64_t members)
{
    for (uint32_t i = 0; i < known_count; i++)
        if (known[i].members == members)
            return &known[i];
    if (known_count == known_room) {
        uint32_t room = known_room ? 2 * known_room : 64;
        counted *more = realloc(known, room * sizeof *more);
        if (!more)
            return NULL;
        known = more;
        known_room = room;
    }
    known[known_count] = (counted){.members = members};
    return &known[known_count++];
}

static uint32_t number_of(uint64_t members, uint32_t before)
{
    uint64_t mixed =
        (members ^ (uint64_t)before * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t number = (uint32_t)(mixed >> 32);
    return number ? number : 1;
}

static int has_foreign(ix_members group)
{
    for (int i = 0; i < group.count; i++)
        if (group.ranks[i] < 0)
            return 1;
    return 0;
}

void ix_number_comm(ix_comm *c, ix_members own, ix_members remote, int window, int created)
{
    uint64_t a = hash_of(own), b = own.ranks == remote.ranks ? 0 : hash_of(remote);
    c->family = a + b + (window ? UINT64_C(0x5851f42d4c957f2d) : 0); /* either side of two alike */
    counted *k = find(c->family);
    uint32_t before = 0;
    int met = !created;
    if (k && met && k->promises) {
        before = k->promised[0];
        for (uint32_t i = 1; i < k->promises; i++)
            k->promised[i - 1] = k->promised[i];
        k->promises--;
        met = 0;
    } else if (k) {
        before = k->created++;
    }
    c->number = number_of(c->family, before);
    ix_log_comm entry = {.number = c->number,
                         .rank = c->rank,
                         .size = c->size,
                         .peers = c->peers,
                         .flags = (c->inter ? IX_LOG_INTER : 0u) | (window ? IX_LOG_WINDOW : 0u) |
                                  (has_foreign(own) || has_foreign(remote) ? IX_LOG_FOREIGN : 0u) |
                                  (met ? IX_LOG_MET : 0u)};
    ix_log_enter_comm(&entry, own.ranks, remote.ranks);
}

void ix_promise_number(const ix_comm *parent)
{
    counted *k = parent ? find(parent->family) : NULL;
    if (!k)
        return;
    uint32_t before = k->created++;
    if (k->promises < PROMISES)
        k->promised[k->promises++] = before;
}
