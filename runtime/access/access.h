/* Who wrote and read communicated memory, and when; and who touched what is in flight.
 *
 * The shadow of memory is in the instrumented program, beside the hooks that the compiler calls;
 * the runtime, which sees the MPI calls, reaches it through the table below. Without a program that
 * was compiled so the runtime has a shadow of its own, which nobody's accesses reach. */
#ifndef IMBREX_ACCESS_ACCESS_H
#define IMBREX_ACCESS_ACCESS_H

#include <stddef.h>
#include <stdint.h>

enum {
    IXA_PAGE_BITS = 12,
    IXA_PAGE = 1 << IXA_PAGE_BITS,
    IXA_TABLE = 1 << 16,
    IXA_GRAIN = 4, /* bytes that share one time stamp */
    IXA_GRAINS = IXA_PAGE / IXA_GRAIN,
    IXA_THREADS = 64,
    IXA_WORD_BITS = 3,
    IXA_LINE_BITS = IXA_WORD_BITS + 2,
    IXA_LINES = 1 << (32 - IXA_LINE_BITS),
    IXA_LINES_AHEAD = 64 /* the first lines again, behind the last: loops read marks ahead */
};

/* A stamp: the thread's number above its count of accesses. */
#define IXA_STAMP_BITS 56
#define IXA_STAMP_CLOCK ((UINT64_C(1) << IXA_STAMP_BITS) - 1)

/* What a first read is before it happens, and when a write came before it. */
#define IXA_UNREAD UINT64_MAX
#define IXA_OVERWRITTEN (UINT64_MAX - 1)

/* What is kept of a byte in flight: how many sends read it, and whether a receive fills it. */
enum { IXA_SENDS = 0x7f, IXA_RECEIVE = 0x80 };

/* Stamps by grain. last_write 0: never since it is watched. `watched`: for what, as below; of other
 * grains stamps need not be kept. */
typedef struct ixa_stamps {
    struct {
        uint64_t last_write, first_read;
        uint8_t watched;
    } grain[IXA_GRAINS];
} ixa_stamps_t;

/* By grain: where what was written there had been read, its value, and the last write of it then;
 * where what was read there has been written to, its value, and the first read of it there; and,
 * at that place, where it came from, until it is read. 0: no copy. */
typedef struct ixa_copies {
    struct {
        uintptr_t from, to, back;
        uint64_t from_stamp, to_stamp;
        uint32_t from_value, to_value;
        uint8_t failed; /* how often in a row it seemed to be unpacked and was not */
    } grain[IXA_GRAINS];
} ixa_copies_t;

/* One page of communicated memory; what is not needed is NULL. */
typedef struct ixa_page {
    uintptr_t number;
    struct ixa_page *next;
    ixa_stamps_t *stamps;
    ixa_copies_t *copies;
    uint8_t *held; /* by byte */
} ixa_page_t;

/* An access to bytes in flight that MPI forbids. `code` is in the user's program. */
typedef void ixa_forbidden_t(uintptr_t address, size_t size, int is_write, const void *code);

/* What is known of a copied element: its value (a hash of more than 8 bytes); when its origin was
 * last written (0: not known) and where that is, or when it was first read where it went. */
typedef struct ixa_copy {
    uint64_t value, stamp;
    uintptr_t origin;
} ixa_copy_t;

/* A grain holds what MPI communicates; or only what was copied from or to such memory. */
enum { IXA_COMMUNICATED = 1, IXA_FOLLOWED = 2 };

/* Called by the runtime. Sizes in bytes; addresses need not be aligned. */
typedef struct ixa_memory {
    uint32_t version, exact; /* exact: accesses of the program are seen */
    /* Where the compiler left accesses out, as text ("a.c:9, a.c:12"); empty if it did not. */
    char unseen[256];
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
    /* As watch, of memory that elements are packed from or unpacked to. */
    int (*follow)(uintptr_t address, size_t size);
    /* Whether the element was packed from elsewhere, or has been unpacked. */
    int (*came_from)(uintptr_t address, size_t size, ixa_copy_t *copy);
    int (*went_to)(uintptr_t address, size_t size, ixa_copy_t *copy);
    /* MPI has copied for the user, who packs or unpacks. */
    void (*copied)(uintptr_t to, uintptr_t from, size_t size);
    /* How many accesses each thread has made: fills `counts`, returns how many threads there are.
     */
    int (*clocks)(uint64_t counts[IXA_THREADS]);
} ixa_memory_t;

/* A call of MPI in a program whose functions are there twice: where it returns to, and a number of
 * its place in the source. All of them. */
typedef struct {
    const void *address;
    uint64_t place;
} ixa_site_t;
typedef struct {
    ixa_site_t *begin, *end;
} ixa_sites_t;

/* The name under which an instrumented program exports its table. */
#define IXA_SYMBOL "imbrex_access_memory"
enum { IXA_VERSION = 4 };

extern ixa_memory_t ixa_shadow;
/* Pages by number, modulo the size of the table. */
extern ixa_page_t *ixa_pages[IXA_TABLE];
/* Lines of memory, by the lower half of their addresses, with a bit for each of their words of 8
 * bytes of which anything was ever communicated: the first question of every access is whether the
 * line has any, the second which. It is zero memory until it is written to. */
extern uint8_t ixa_lines[IXA_LINES + IXA_LINES_AHEAD] __asm__("imbrex_access_words");
/* Accesses of this thread so far. */
extern __thread uint64_t ixa_clock __asm__("imbrex_access_clock");
/* This thread's number, moved up by IXA_STAMP_BITS, plus one; 0 before its first stamp. */
extern __thread uint64_t ixa_thread;

/* Where this thread last read 4, or 8, bytes that the next write may copy; where it read an element
 * that has just arrived for the first time, until it writes: then every such write is looked at. */
extern __thread uintptr_t ixa_source4 __asm__("imbrex_access_source4_at");
extern __thread uintptr_t ixa_source8 __asm__("imbrex_access_source8_at");
extern __thread uintptr_t ixa_pending __asm__("imbrex_access_pending");

/* An element that has arrived is read for the first time, and a write of its size follows. */
void ixa_may_unpack(uintptr_t address, size_t size);
/* A write, after the read of a source of the same size; just_read: in the same run of instructions,
 * so that it is still there. */
void ixa_may_copy(uintptr_t address, size_t size, uintptr_t source, int just_read);
/* memcpy and the like: before its reads count, and behind all its accesses. */
void ixa_before_copy(uintptr_t to, uintptr_t from, size_t size);
void ixa_after_copy(uintptr_t to, uintptr_t from, size_t size);
/* Whether the element that this thread unpacked last was unpacked shows now. */
void ixa_verify_unpacked(void);
int ixa_came_from(uintptr_t address, size_t size, ixa_copy_t *copy);
int ixa_went_to(uintptr_t address, size_t size, ixa_copy_t *copy);

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

/* The bit in its line of the word in which an address lies. */
static inline uint8_t ixa_word_bit(uintptr_t address)
{
    return (uint8_t)(1u << (address >> IXA_WORD_BITS) % 8);
}

static inline ixa_page_t *ixa_page(uintptr_t address)
{
    uintptr_t number = address >> IXA_PAGE_BITS;
    ixa_page_t *page = ixa_pages[number & (IXA_TABLE - 1)];
    while (__builtin_expect(page != NULL, 0) && page->number != number)
        page = page->next;
    return page;
}

/* What was unpacked to this grain is read first, or (IXA_OVERWRITTEN) written before. */
void ixa_copy_used(ixa_page_t *page, unsigned grain, uint64_t stamp);

/* Grains first to last of a page are written, or read, now. */
static inline void ixa_write_grains(ixa_page_t *page, unsigned first, unsigned last)
{
    ixa_stamps_t *stamps = page->stamps;
    uint64_t now = ixa_stamp();
    for (unsigned g = first; g <= last; g++) {
        if (page->copies)
            page->copies->grain[g].from = 0;
        stamps->grain[g].last_write = now;
        if (stamps->grain[g].first_read == IXA_UNREAD)
            stamps->grain[g].first_read = IXA_OVERWRITTEN;
        if (page->copies && page->copies->grain[g].back)
            ixa_copy_used(page, g, IXA_OVERWRITTEN);
    }
}

static inline void ixa_read_grains(ixa_page_t *page, unsigned first, unsigned last)
{
    for (unsigned g = first; g <= last; g++) {
        if (page->stamps->grain[g].first_read == IXA_UNREAD)
            page->stamps->grain[g].first_read = ixa_stamp();
        if (page->copies && page->copies->grain[g].back)
            ixa_copy_used(page, g, ixa_stamp());
    }
}

#endif
