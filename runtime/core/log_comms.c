#include "core/log_comms.h"

#include <sys/mman.h>

#include "core/call_logging.h"
#include "core/log_memory.h"

/* Numbers of entries + 1 by the hash of their communicators' numbers. */
static struct {
    uint32_t *places;
    uint32_t mask;
} index_of_comms;

static size_t index_bytes(void)
{
    return ((size_t)index_of_comms.mask + 1) * sizeof *index_of_comms.places;
}

void ix_log_comms_stop(void)
{
    if (index_of_comms.places)
        munmap(index_of_comms.places, index_bytes());
    index_of_comms.places = NULL;
}

static ix_log_comm *entry(uint64_t i)
{
    ix_log_header *h = ix_log_memory.header;
    return (ix_log_comm *)(void *)((char *)h + h->comms.offset) + i;
}

/* The place of a number, or the empty one where it belongs. */
static uint32_t *place_of(uint32_t number)
{
    uint32_t i = ix_hash(number) & index_of_comms.mask;
    while (index_of_comms.places[i] && entry(index_of_comms.places[i] - 1)->number != number)
        i = (i + 1) & index_of_comms.mask;
    return &index_of_comms.places[i];
}

int ix_log_comms_start(void)
{
    const ix_part_table *comms = &ix_log_memory.header->comms;
    index_of_comms.mask = ix_power_of_two((uint32_t)(2 * comms->capacity)) - 1;
    void *memory = mmap(NULL, index_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    index_of_comms.places = memory == MAP_FAILED ? NULL : memory;
    if (memory == MAP_FAILED)
        return -1;
    for (uint64_t i = 0; i < comms->used; i++) {
        uint32_t *place = place_of(entry(i)->number);
        *place = *place ? *place : (uint32_t)i + 1;
    }
    return 0;
}

const ix_log_comm *ix_log_own_comm(uint32_t number)
{
    uint32_t place = index_of_comms.places ? *place_of(number) : 0;
    return place ? entry(place - 1) : NULL;
}

/* World ranks of a group, where room is left for them. */
static uint32_t enter_members(ix_log_header *h, const int32_t *ranks, int32_t count)
{
    uint64_t at = h->members.used;
    if (!ranks || count <= 0 || (uint64_t)count > h->members.capacity - at)
        return UINT32_MAX;
    uint64_t bytes = (uint64_t)count * sizeof *ranks,
             begin = h->members.offset + at * sizeof *ranks;
    if (ix_log_provide(begin, bytes))
        return UINT32_MAX;
    memcpy((char *)h + begin, ranks, bytes);
    h->members.used += (uint64_t)count;
    return (uint32_t)at;
}

void ix_log_enter_comm(const ix_log_comm *comm, const int32_t *own, const int32_t *remote)
{
    ix_log_header *h = ix_log_memory.header;
    if (!h || h->end_ns)
        return;
    ix_lock();
    uint32_t *place = place_of(comm->number);
    uint64_t begin = h->comms.offset + h->comms.used * sizeof *comm;
    if (!*place && h->comms.used < h->comms.capacity && !ix_log_provide(begin, sizeof *comm)) {
        ix_log_comm *e = entry(h->comms.used);
        *e = *comm;
        e->own = enter_members(h, own, comm->size);
        e->remote = remote == own ? e->own : enter_members(h, remote, comm->peers);
        *place = (uint32_t)++h->comms.used;
    }
    ix_unlock();
}
