/* The shadow of communicated memory: a hash table of pages that only MPI calls let grow. */
#include "access/access.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* Where nothing calls hooks there are no lines to mark either. */
#pragma weak ixa_lines

ixa_page_t *ixa_pages[IXA_TABLE];
__thread uint64_t ixa_clock, ixa_thread;

/* Each thread counts its accesses for itself; the counts of all are found here, also of those that
 * have ended. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_end;
static int threads;
/* Where a thread counts; when it has ended, what it had counted. */
static const uint64_t *counters[IXA_THREADS];
static uint64_t counted[IXA_THREADS];

static void thread_ends(void *counter)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < threads; i++)
        if (counters[i] == counter) {
            counted[i] = *counters[i];
            counters[i] = NULL;
        }
    pthread_mutex_unlock(&lock);
}

/* Threads beyond the table share the last number: their order among each other is lost. */
uint64_t ixa_register(void)
{
    pthread_mutex_lock(&lock);
    if (threads == 0)
        pthread_key_create(&at_end, thread_ends);
    int mine = threads < IXA_THREADS ? threads++ : IXA_THREADS - 1;
    counters[mine] = &ixa_clock;
    pthread_setspecific(at_end, &ixa_clock);
    pthread_mutex_unlock(&lock);
    ixa_thread = ((uint64_t)mine << IXA_STAMP_BITS) + 1;
    return ixa_thread;
}

static int clocks(uint64_t counts[IXA_THREADS])
{
    if (!ixa_thread)
        ixa_register();
    ixa_verify_unpacked();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < threads; i++)
        counts[i] = counters[i] ? *(const volatile uint64_t *)counters[i] : counted[i];
    int count = threads;
    pthread_mutex_unlock(&lock);
    return count;
}

static void *memory(size_t size)
{
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return found == MAP_FAILED ? NULL : found;
}

/* Pages are cut from larger pieces, and stay. */
static ixa_page_t *new_page(uintptr_t number)
{
    static ixa_page_t *piece;
    static size_t left;
    if (left == 0) {
        piece = memory(IXA_PAGE);
        if (!piece)
            return NULL;
        left = IXA_PAGE / sizeof *piece;
    }
    ixa_page_t *page = &piece[--left];
    ixa_page_t **slot = &ixa_pages[number & (IXA_TABLE - 1)];
    page->number = number;
    page->next = *slot;
    __atomic_store_n(slot, page, __ATOMIC_RELEASE);
    return page;
}

static ixa_page_t *make_page(uintptr_t address)
{
    ixa_page_t *page = ixa_page(address);
    return page ? page : new_page(address >> IXA_PAGE_BITS);
}

/* The bytes of [*at, end) that lie in one page; *at is moved behind them. */
typedef struct part {
    ixa_page_t *page;
    unsigned from, to; /* offsets in the page; to is behind the last */
} part_t;

static part_t next_part(uintptr_t *at, uintptr_t end, int make)
{
    uintptr_t stop = (*at | (IXA_PAGE - 1)) + 1;
    if (stop > end)
        stop = end;
    part_t part = {make ? make_page(*at) : ixa_page(*at), (unsigned)(*at & (IXA_PAGE - 1)), 0};
    part.to = part.from + (unsigned)(stop - *at);
    *at = stop;
    return part;
}

#define EACH_PART(part, address, size, make)                                                       \
    for (uintptr_t at = (address), end = at + (size); at < end;)                                   \
        for (part_t part = next_part(&at, end, make), *once = &part; once; once = NULL)

static unsigned first_grain(part_t part)
{
    return part.from / IXA_GRAIN;
}

static unsigned last_grain(part_t part)
{
    return (part.to - 1) / IXA_GRAIN;
}

static void mark_words(uintptr_t address, size_t size)
{
    if (!ixa_lines)
        return;
    for (uintptr_t at = address; at < address + size; at = (at | ((1 << IXA_WORD_BITS) - 1)) + 1) {
        uint32_t line = ixa_line(at);
        ixa_lines[line] |= ixa_word_bit(at);
        if (line < IXA_LINES_AHEAD)
            ixa_lines[IXA_LINES + line] |= ixa_word_bit(at);
    }
}

/* Hooks of several threads may ask for pages too, for the sources of copies. */
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;

static int watch_locked(uintptr_t address, size_t size, uint8_t use)
{
    EACH_PART(part, address, size, 1)
    {
        if (!part.page)
            return -1;
        if (!part.page->stamps) {
            ixa_stamps_t *stamps = memory(sizeof *stamps);
            if (!stamps)
                return -1;
            __atomic_store_n(&part.page->stamps, stamps, __ATOMIC_RELEASE);
        }
        for (unsigned g = first_grain(part); g <= last_grain(part); g++)
            part.page->stamps->grain[g].watched |= use;
    }
    mark_words(address, size);
    return 0;
}

static int watch_as(uintptr_t address, size_t size, uint8_t use)
{
    pthread_mutex_lock(&growing);
    int result = watch_locked(address, size, use);
    pthread_mutex_unlock(&growing);
    return result;
}

static int watch(uintptr_t address, size_t size)
{
    return watch_as(address, size, IXA_COMMUNICATED);
}

static int follow(uintptr_t address, size_t size)
{
    return watch_as(address, size, IXA_FOLLOWED);
}

static void arm(uintptr_t address, size_t size)
{
    EACH_PART(part, address, size, 0)
    {
        for (unsigned g = first_grain(part);
             part.page && part.page->stamps && g <= last_grain(part); g++) {
            part.page->stamps->grain[g].first_read = IXA_UNREAD;
            if (part.page->copies)
                part.page->copies->grain[g].to = 0;
        }
    }
}

static void write(uintptr_t address, size_t size)
{
    EACH_PART(part, address, size, 0)
    {
        if (part.page && part.page->stamps)
            ixa_write_grains(part.page, first_grain(part), last_grain(part));
    }
}

static void read(uintptr_t address, size_t size)
{
    EACH_PART(part, address, size, 0)
    {
        if (part.page && part.page->stamps)
            ixa_read_grains(part.page, first_grain(part), last_grain(part));
    }
}

static void copied(uintptr_t to, uintptr_t from, size_t size)
{
    ixa_before_copy(to, from, size);
    read(from, size);
    write(to, size);
    ixa_after_copy(to, from, size);
}

static uint64_t last_write(uintptr_t address, size_t size)
{
    uint64_t latest = 0;
    EACH_PART(part, address, size, 0)
    {
        for (unsigned g = first_grain(part);
             part.page && part.page->stamps && g <= last_grain(part); g++)
            if (part.page->stamps->grain[g].last_write > latest)
                latest = part.page->stamps->grain[g].last_write;
    }
    return latest;
}

static uint64_t first_read(uintptr_t address, size_t size)
{
    uint64_t earliest = IXA_UNREAD;
    EACH_PART(part, address, size, 0)
    {
        for (unsigned g = first_grain(part);
             part.page && part.page->stamps && g <= last_grain(part); g++)
            if (part.page->stamps->grain[g].first_read < earliest)
                earliest = part.page->stamps->grain[g].first_read;
    }
    return earliest;
}

static int hold_locked(uintptr_t address, size_t size, int is_receive, int by)
{
    int result = 0;
    if (by > 0)
        mark_words(address, size);
    EACH_PART(part, address, size, by > 0)
    {
        if (part.page && !part.page->held && by > 0)
            __atomic_store_n(&part.page->held, memory(IXA_PAGE), __ATOMIC_RELEASE);
        if (!part.page || !part.page->held) {
            result = -1;
            continue;
        }
        uint8_t *held = part.page->held;
        for (unsigned b = part.from; b < part.to; b++) {
            unsigned sends = held[b] & IXA_SENDS;
            if (is_receive)
                held[b] = (uint8_t)(sends | (by > 0 ? IXA_RECEIVE : 0));
            else if (by > 0 ? sends < IXA_SENDS : sends > 0)
                held[b] = (uint8_t)(held[b] + by);
        }
    }
    return result;
}

static int hold(uintptr_t address, size_t size, int is_receive, int by)
{
    pthread_mutex_lock(&growing);
    int result = hold_locked(address, size, is_receive, by);
    pthread_mutex_unlock(&growing);
    return result;
}

static int holds(uintptr_t address, size_t size, int is_write)
{
    EACH_PART(part, address, size, 0)
    {
        for (unsigned b = part.from; part.page && part.page->held && b < part.to; b++)
            if (part.page->held[b] & (is_write ? 0xff : IXA_RECEIVE))
                return 1;
    }
    return 0;
}

ixa_memory_t ixa_shadow = {.version = IXA_VERSION,
                           .watch = watch,
                           .arm = arm,
                           .write = write,
                           .read = read,
                           .last_write = last_write,
                           .first_read = first_read,
                           .hold = hold,
                           .holds = holds,
                           .follow = follow,
                           .came_from = ixa_came_from,
                           .went_to = ixa_went_to,
                           .copied = copied,
                           .clocks = clocks};
