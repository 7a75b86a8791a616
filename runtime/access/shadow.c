/* Shadow pages of communicated memory: a hash table that only MPI calls let grow. */
#include "access.h"

#include <sys/mman.h>

uint64_t ixa_clock;
uint8_t ixa_filter[IXA_FILTER_SIZE];

enum { BUCKETS = 1 << 14 };
static ixa_page_t *buckets[BUCKETS];

static ixa_page_t *find(uintptr_t number)
{
    ixa_page_t *page = buckets[number & (BUCKETS - 1)];
    while (page && page->number != number)
        page = page->next;
    return page;
}

static unsigned grain(uintptr_t address)
{
    return (unsigned)(address & ((1u << IXA_PAGE_BITS) - 1)) / IXA_GRAIN;
}

/* The part of [*at, end) that lies in one page: its grains, and *at moved behind it. */
static ixa_page_t *next_part(uintptr_t *at, uintptr_t end, unsigned *first, unsigned *last)
{
    uintptr_t stop = ((*at >> IXA_PAGE_BITS) + 1) << IXA_PAGE_BITS;
    if (stop > end)
        stop = end;
    *first = grain(*at);
    *last = grain(stop - 1);
    ixa_page_t *page = find(*at >> IXA_PAGE_BITS);
    *at = stop;
    return page;
}

void ixa_write(uintptr_t address, size_t size)
{
    uint64_t now = ixa_clock;
    unsigned first, last;
    for (uintptr_t at = address, end = address + size; at < end;) {
        ixa_page_t *page = next_part(&at, end, &first, &last);
        for (unsigned g = first; page && g <= last; g++) {
            page->last_write[g] = now;
            if (page->first_read[g] == IXA_UNREAD)
                page->first_read[g] = IXA_OVERWRITTEN;
        }
    }
}

void ixa_read(uintptr_t address, size_t size)
{
    uint64_t now = ixa_clock;
    unsigned first, last;
    for (uintptr_t at = address, end = address + size; at < end;) {
        ixa_page_t *page = next_part(&at, end, &first, &last);
        for (unsigned g = first; page && g <= last; g++)
            if (page->first_read[g] == IXA_UNREAD)
                page->first_read[g] = now;
    }
}

int ixa_watch(uintptr_t address, size_t size)
{
    if (size == 0)
        return 0;
    uintptr_t final = (address + size - 1) >> IXA_PAGE_BITS;
    for (uintptr_t number = address >> IXA_PAGE_BITS; number <= final; number++) {
        if (find(number))
            continue;
        ixa_page_t *page =
            mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            return -1;
        page->number = number;
        page->next = buckets[number & (BUCKETS - 1)];
        buckets[number & (BUCKETS - 1)] = page;
        ixa_filter[number & (IXA_FILTER_SIZE - 1)] = 1;
    }
    return 0;
}

void ixa_arm(uintptr_t address, size_t size)
{
    unsigned first, last;
    for (uintptr_t at = address, end = address + size; at < end;) {
        ixa_page_t *page = next_part(&at, end, &first, &last);
        for (unsigned g = first; page && g <= last; g++)
            page->first_read[g] = IXA_UNREAD;
    }
}

uint64_t ixa_last_write(uintptr_t address, size_t size)
{
    uint64_t latest = 0;
    unsigned first, last;
    for (uintptr_t at = address, end = address + size; at < end;) {
        ixa_page_t *page = next_part(&at, end, &first, &last);
        for (unsigned g = first; page && g <= last; g++)
            if (page->last_write[g] > latest)
                latest = page->last_write[g];
    }
    return latest;
}

uint64_t ixa_first_read(uintptr_t address, size_t size)
{
    uint64_t earliest = IXA_UNREAD;
    unsigned first, last;
    for (uintptr_t at = address, end = address + size; at < end;) {
        ixa_page_t *page = next_part(&at, end, &first, &last);
        for (unsigned g = first; page && g <= last; g++)
            if (page->first_read[g] < earliest)
                earliest = page->first_read[g];
    }
    return earliest;
}
