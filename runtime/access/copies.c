/* Copies of single elements, one level: what is packed before a send, and unpacked after a receive.
 *
 * An instrumented program tells which read comes before a write of the same size, but no values.
 * The value is read here when the program is about to: a write is a copy if, later, the same value
 * lies where it wrote. */
#include "access.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma weak ixa_lines

__thread uintptr_t ixa_source4, ixa_source8, ixa_pending;

/* The last element that was unpacked by this thread: whether it was, shows once it is written. */
static __thread struct {
    ixa_copies_t *copies;
    unsigned grain;
    size_t bytes;
} unpacked;

/* Not by memcpy, which the program's accesses are counted at. Longer elements: their beginning. */
static uint64_t value_at(uintptr_t address, size_t size)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) word_t;
    const word_t *words = (const word_t *)address;
    return size < 2 * sizeof *words ? words[0] : words[0] | (uint64_t)words[1] << 32;
}

/* The same of memory that may be gone by now: 0, or -1. */
static int checked_value_at(uintptr_t address, size_t size, uint64_t *value)
{
    size_t bytes = size < sizeof *value ? IXA_GRAIN : sizeof *value;
    struct iovec to = {value, bytes}, from = {(void *)address, bytes};
    *value = 0;
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static ixa_copies_t *copies_of(uintptr_t address)
{
    ixa_page_t *page = ixa_page(address);
    return page ? page->copies : NULL;
}

/* One level: only of what MPI communicates, for which the page is there. */
static ixa_copies_t *make_copies(uintptr_t address)
{
    ixa_page_t *page = ixa_page(address);
    if (!ixa_lines || !(ixa_lines[ixa_line(address)] & IXA_COMMUNICATED) || !page || !page->stamps)
        return NULL;
    if (!page->copies) {
        void *made = mmap(NULL, sizeof *page->copies, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ixa_copies_t *none = NULL;
        if (made == MAP_FAILED)
            return NULL;
        if (!__atomic_compare_exchange_n(&page->copies, &none, made, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            munmap(made, sizeof *page->copies);
    }
    return page->copies;
}

static unsigned grain_of(uintptr_t address)
{
    return (unsigned)(address & (IXA_PAGE - 1)) / IXA_GRAIN;
}

static void verify_unpacked(void)
{
    ixa_copies_t *copies = unpacked.copies;
    uint64_t value;
    unpacked.copies = NULL;
    if (copies && copies->to[unpacked.grain] &&
        (checked_value_at(copies->to[unpacked.grain], unpacked.bytes, &value) ||
         value != copies->to_value[unpacked.grain]))
        copies->to[unpacked.grain] = 0;
}

void ixa_may_unpack(uintptr_t address, size_t size)
{
    ixa_copies_t *copies = make_copies(address);
    verify_unpacked();
    if (!copies)
        return;
    copies->to[grain_of(address)] = 0;
    copies->to_value[grain_of(address)] = value_at(address, size);
    ixa_pending = address;
}

void ixa_may_copy(uintptr_t address, size_t size, uintptr_t source, int just_read)
{
    uint64_t value = 0;
    uintptr_t pending = ixa_pending;
    ixa_pending = 0;
    if (source == address || source == 0)
        return;
    if (pending && pending == source) {
        ixa_copies_t *copies = copies_of(pending);
        unsigned g = grain_of(pending);
        if (copies && ixa_shadow.follow(address, size) == 0) {
            /* Behind the write, which is now, its first read counts. */
            ixa_shadow.write(address, size);
            ixa_shadow.arm(address, size);
            copies->to[g] = address;
            unpacked.copies = copies;
            unpacked.grain = g;
            unpacked.bytes = size;
        }
        return;
    }
    ixa_copies_t *copies = make_copies(address);
    if (!copies || (!just_read && checked_value_at(source, size, &value)))
        return;
    unsigned g = grain_of(address);
    copies->from[g] = source;
    copies->from_value[g] = just_read ? value_at(source, size) : value;
    copies->from_stamp[g] = ixa_shadow.last_write(source, size);
}

int ixa_came_from(uintptr_t address, size_t size, ixa_copy_t *copy)
{
    ixa_copies_t *copies = copies_of(address);
    unsigned g = grain_of(address);
    if (!copies || !copies->from[g] || size < IXA_GRAIN)
        return 0;
    *copy = (ixa_copy_t){copies->from_value[g], copies->from_stamp[g], copies->from[g]};
    return value_at(address, size) == copy->value;
}

int ixa_went_to(uintptr_t address, size_t size, ixa_copy_t *copy)
{
    ixa_copies_t *copies = copies_of(address);
    unsigned g = grain_of(address);
    verify_unpacked();
    if (!copies || !copies->to[g] || size < IXA_GRAIN)
        return 0;
    *copy = (ixa_copy_t){copies->to_value[g], ixa_shadow.first_read(copies->to[g], size), 0};
    return 1;
}
