/* Who wrote and read communicated memory, and when; and who touched what is in flight.
 *
 * The shadow of memory is in the instrumented program, beside the hooks that the compiler calls;
 * the runtime, which sees the MPI calls, reaches it through the table below. Without a program that
 * was compiled so the runtime has a shadow of its own, which nobody's accesses reach. */
#ifndef IMBREX_ACCESS_H
#define IMBREX_ACCESS_H

#include <stddef.h>
#include <stdint.h>

enum {
    IXA_PAGE_BITS = 12,
    IXA_PAGE = 1 << IXA_PAGE_BITS,
    IXA_TABLE = 1 << 16,
    IXA_GRAIN = 4, /* bytes that share one time stamp */
    IXA_GRAINS = IXA_PAGE / IXA_GRAIN,
    IXA_THREADS = 64,
    IXA_LINE_BITS = 6,
    IXA_LINES = 1 << (32 - IXA_LINE_BITS)
};

/* A stamp: the thread's number above its count of accesses. */
#define IXA_STAMP_BITS 56
#define IXA_STAMP_CLOCK ((UINT64_C(1) << IXA_STAMP_BITS) - 1)

/* What a first read is before it happens, and when a write came before it. */
#define IXA_UNREAD UINT64_MAX
#define IXA_OVERWRITTEN (UINT64_MAX - 1)

/* What is kept of a byte in flight: how many sends read it, and whether a receive fills it. */
enum { IXA_SENDS = 0x7f, IXA_RECEIVE = 0x80 };

/* Stamps by grain. last_write 0: never since the page is watched. */
typedef struct ixa_stamps {
    uint64_t last_write[IXA_GRAINS];
    uint64_t first_read[IXA_GRAINS];
} ixa_stamps_t;

/* One page of communicated memory; what is not needed is NULL. */
typedef struct ixa_page {
    uintptr_t number;
    struct ixa_page *next;
    ixa_stamps_t *stamps;
    uint8_t *held; /* by byte */
} ixa_page_t;

/* An access to bytes in flight that MPI forbids. `code` is in the user's program. */
typedef void ixa_forbidden_t(uintptr_t address, size_t size, int is_write, const void *code);

/* Called by the runtime. Sizes in bytes; addresses need not be aligned. */
typedef struct ixa_memory {
    uint32_t version, exact; /* exact: accesses of the program are seen */
    ixa_forbidden_t *forbidden;
    /* Count stamps for [address, address + size); 0, or -1 without memory. */
    int (*watch)(uintptr_t address, size_t size);
    /* Make the next read of every grain in the range the first. */
    void (*arm)(uintptr_t address, size_t size);
    /* An access that MPI makes for the user: a message arrives, or leaves. */
    void (*write)(uintptr_t address, size_t size);
    void (*read)(uintptr_t address, size_t size);
    /* The latest last write of the range, 0 if none is known. */
    uint64_t (*last_write)(uintptr_t address, size_t size);
    /* The earliest first read of the range; IXA_UNREAD, or IXA_OVERWRITTEN, if there was none. */
    uint64_t (*first_read)(uintptr_t address, size_t size);
    /* Take bytes in flight (`by` 1) or back (-1); 0, or -1 without memory. */
    int (*hold)(uintptr_t address, size_t size, int is_receive, int by);
    /* Whether a write, or a read, would touch bytes in flight. */
    int (*holds)(uintptr_t address, size_t size, int is_write);
    /* How many accesses each thread has made: fills `counts`, returns how many threads there are.
     */
    int (*clocks)(uint64_t counts[IXA_THREADS]);
} ixa_memory_t;

/* The name under which an instrumented program exports its table. */
#define IXA_SYMBOL "imbrex_access_memory"
enum { IXA_VERSION = 1 };

extern ixa_memory_t ixa_shadow;
/* Pages by number, modulo the size of the table. */
extern ixa_page_t *ixa_pages[IXA_TABLE];
/* Lines of memory, by the lower half of their addresses, in which anything was ever communicated:
 * the first question of every access. It is zero memory until it is written to. */
extern uint8_t ixa_lines[IXA_LINES] __asm__("imbrex_access_lines");
/* Accesses of this thread so far. */
extern __thread uint64_t ixa_clock __asm__("imbrex_access_clock");
/* This thread's number, moved up by IXA_STAMP_BITS, plus one; 0 before its first stamp. */
extern __thread uint64_t ixa_thread;

/* Give this thread a number: as ixa_thread. */
uint64_t ixa_register(void);

static inline uint64_t ixa_stamp(void)
{
    uint64_t thread = ixa_thread;
    return ((__builtin_expect(thread != 0, 1) ? thread : ixa_register()) - 1) |
           (ixa_clock & IXA_STAMP_CLOCK);
}

static inline uint32_t ixa_line(uintptr_t address)
{
    return (uint32_t)address >> IXA_LINE_BITS;
}

static inline ixa_page_t *ixa_page(uintptr_t address)
{
    uintptr_t number = address >> IXA_PAGE_BITS;
    ixa_page_t *page = ixa_pages[number & (IXA_TABLE - 1)];
    while (__builtin_expect(page != NULL, 0) && page->number != number)
        page = page->next;
    return page;
}

/* Grains first to last of a page are written, or read, now. */
static inline void ixa_write_grains(ixa_stamps_t *stamps, unsigned first, unsigned last)
{
    uint64_t now = ixa_stamp();
    for (unsigned g = first; g <= last; g++) {
        stamps->last_write[g] = now;
        if (stamps->first_read[g] == IXA_UNREAD)
            stamps->first_read[g] = IXA_OVERWRITTEN;
    }
}

static inline void ixa_read_grains(ixa_stamps_t *stamps, unsigned first, unsigned last)
{
    for (unsigned g = first; g <= last; g++)
        if (stamps->first_read[g] == IXA_UNREAD)
            stamps->first_read[g] = ixa_stamp();
}

#endif
