/* Who wrote and read communicated memory, and when: the shadow of watched pages. */
#ifndef IMBREX_ACCESS_H
#define IMBREX_ACCESS_H

#include <stddef.h>
#include <stdint.h>

enum {
    IXA_PAGE_BITS = 12,
    IXA_FILTER_SIZE = 1 << 16,
    IXA_GRAIN = 4, /* bytes that share one time stamp */
    IXA_GRAINS = (1 << IXA_PAGE_BITS) / IXA_GRAIN
};

/* What a first read is before it happens, and when a write came before it. */
#define IXA_UNREAD UINT64_MAX
#define IXA_OVERWRITTEN (UINT64_MAX - 1)

/* One shadow page: clock values by grain. last_write 0: never since the page is watched. */
typedef struct ixa_page {
    uintptr_t number;
    struct ixa_page *next;
    uint64_t last_write[IXA_GRAINS];
    uint64_t first_read[IXA_GRAINS];
} ixa_page_t;

/* Counts instrumented accesses: a clock that recording does not disturb. */
extern uint64_t ixa_clock;
/* Nonzero where a page with this number (modulo the size) is watched. */
extern uint8_t ixa_filter[];

void ixa_write(uintptr_t address, size_t size);
void ixa_read(uintptr_t address, size_t size);

/* Watch [address, address + size); 0, or -1 without memory. */
int ixa_watch(uintptr_t address, size_t size);
/* Make the next read of every grain in the range the first. */
void ixa_arm(uintptr_t address, size_t size);
/* The latest last write of the range, 0 if none is known. */
uint64_t ixa_last_write(uintptr_t address, size_t size);
/* The earliest first read of the range; IXA_UNREAD, or IXA_OVERWRITTEN, if there was none. */
uint64_t ixa_first_read(uintptr_t address, size_t size);

#endif
