/* Copies of single elements, one level: what is packed before a send, and unpacked after a receive.
 *
 * An instrumented program tells which read comes before a write of the same size, but no values.
 * The value is read here when the program is about to: a write is a copy if, later, the same value
 * lies where it wrote. */
#include "access/access.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma weak ixa_lines

__thread uintptr_t ixa_source4, ixa_source8, ixa_pending;

/* To look at what was written costs a system call. */
enum { PATIENCE = 8 };

/* What this thread unpacked last: whether it was, shows once it is written. */
static __thread struct {
    uintptr_t from;
    size_t bytes;
} unpacked;

/* Not by memcpy, which the program's accesses are counted at. */
static uint32_t word_at(uintptr_t address)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) word_t;
    return *(const word_t *)address;
}

/* The same of memory that may be gone by now: 0, or -1. */
static int checked_words_at(uintptr_t address, size_t size, uint32_t *words)
{
    struct iovec to = {words, size}, from = {(void *)address, size};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -1;
}

static ixa_copies_t *copies_of(uintptr_t address)
{
    ixa_page_t *page = ixa_page(address);
    return page ? page->copies : NULL;
}

static ixa_copies_t *make_copies_in(ixa_page_t *page)
{
    if (!page || !page->stamps)
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

/* One level: only of what MPI communicates, for which the page is there; and only where accesses
 * are seen. */
static ixa_copies_t *make_copies(uintptr_t address)
{
    ixa_page_t *page = ixa_lines ? ixa_page(address) : NULL;
    int communicated =
        page && page->stamps && page->stamps->grain[grain_of(address)].watched & IXA_COMMUNICATED;
    return communicated ? make_copies_in(page) : NULL;
}

void ixa_verify_unpacked(void)
{
    uint32_t words[2] = {0, 0};
    size_t bytes = unpacked.bytes;
    unpacked.bytes = 0;
    ixa_copies_t *copies = bytes ? copies_of(unpacked.from) : NULL;
    unsigned g = grain_of(unpacked.from);
    if (!copies || !copies->grain[g].to)
        return;
    int same = checked_words_at(copies->grain[g].to, bytes, words) == 0;
    for (unsigned i = 0; i < bytes / IXA_GRAIN; i++)
        same &= words[i] == copies->grain[g + i].to_value;
    if (same)
        copies->grain[g].failed = 0;
    else if (copies->grain[g].failed < PATIENCE)
        copies->grain[g].failed++;
    for (unsigned i = 0; !same && i < bytes / IXA_GRAIN; i++)
        copies->grain[g + i].to = 0;
}

/* A grain that has arrived is written somewhere else, now: from then on its first read there
 * counts. Whether a message lies there too, and was read, is another matter. */
static int unpack(uintptr_t from, uintptr_t to)
{
    ixa_copies_t *source = copies_of(from), *target;
    if (!source || ixa_shadow.follow(to, IXA_GRAIN))
        return 0;
    ixa_shadow.write(to, IXA_GRAIN);
    target = make_copies_in(ixa_page(to));
    if (!target)
        return 0;
    source->grain[grain_of(from)].to = to;
    source->grain[grain_of(from)].to_stamp = IXA_UNREAD;
    target->grain[grain_of(to)].back = from;
    return 1;
}

void ixa_copy_used(ixa_page_t *page, unsigned grain, uint64_t stamp)
{
    uintptr_t place = (page->number << IXA_PAGE_BITS) + grain * IXA_GRAIN;
    uintptr_t from = page->copies->grain[grain].back;
    ixa_copies_t *source = copies_of(from);
    page->copies->grain[grain].back = 0;
    if (source && source->grain[grain_of(from)].to == place)
        source->grain[grain_of(from)].to_stamp = stamp;
}

void ixa_may_unpack(uintptr_t address, size_t size)
{
    ixa_copies_t *copies = make_copies(address);
    ixa_verify_unpacked();
    if (!copies)
        return;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        copies->grain[grain_of(address + at)].to = 0;
        copies->grain[grain_of(address + at)].to_value = word_at(address + at);
    }
    if (copies->grain[grain_of(address)].failed < PATIENCE)
        ixa_pending = address;
}

void ixa_may_copy(uintptr_t address, size_t size, uintptr_t source, int just_read)
{
    uint32_t words[2];
    uintptr_t pending = ixa_pending;
    ixa_pending = 0;
    if (source == address || source == 0)
        return;
    if (pending && pending == source) {
        for (size_t at = 0; at < size; at += IXA_GRAIN)
            unpack(source + at, address + at);
        unpacked.from = source;
        unpacked.bytes = size;
        return;
    }
    ixa_copies_t *copies = make_copies(address);
    if (!copies || (!just_read && checked_words_at(source, size, words)))
        return;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        unsigned g = grain_of(address + at);
        copies->grain[g].from = source + at;
        copies->grain[g].from_value = just_read ? word_at(source + at) : words[at / IXA_GRAIN];
        copies->grain[g].from_stamp = ixa_shadow.last_write(source, size);
    }
}

/* What memcpy and MPI_Pack copy is told as whole ranges, from and to. */

/* A mark on a place that is unpacked to by the copy that goes on now: places are aligned. */
enum { FRESH = 1 };

static int may_follow(uintptr_t to, uintptr_t from, size_t size)
{
    int apart = to + size <= from || from + size <= to;
    return apart && (to | from) % IXA_GRAIN == 0;
}

void ixa_before_copy(uintptr_t to, uintptr_t from, size_t size)
{
    if (!may_follow(to, from, size))
        return;
    for (size_t at = 0; at + IXA_GRAIN <= size; at += IXA_GRAIN) {
        const ixa_page_t *page = ixa_page(from + at);
        unsigned g = grain_of(from + at);
        if (!page || !page->stamps || page->stamps->grain[g].first_read != IXA_UNREAD)
            continue;
        ixa_copies_t *copies = make_copies(from + at);
        if (!copies)
            continue;
        copies->grain[g].to = (to + at) | FRESH;
        copies->grain[g].to_value = word_at(from + at);
    }
}

static void after_copy_of(uintptr_t to, uintptr_t from)
{
    ixa_copies_t *source = copies_of(from);
    if (source && source->grain[grain_of(from)].to == (to | FRESH)) {
        source->grain[grain_of(from)].to = 0;
        unpack(from, to);
        return;
    }
    ixa_copies_t *copies = make_copies(to);
    if (!copies)
        return;
    copies->grain[grain_of(to)].from = from;
    copies->grain[grain_of(to)].from_value = word_at(from);
    copies->grain[grain_of(to)].from_stamp = ixa_shadow.last_write(from, IXA_GRAIN);
}

void ixa_after_copy(uintptr_t to, uintptr_t from, size_t size)
{
    if (!may_follow(to, from, size))
        return;
    for (size_t at = 0; at + IXA_GRAIN <= size; at += IXA_GRAIN)
        after_copy_of(to + at, from + at);
}

/* An element has one origin, or went to one place, only where all its grains agree. */

static int is_whole(uintptr_t address, size_t size)
{
    return size > 0 && (address | size) % IXA_GRAIN == 0;
}

static uint64_t with_bits(uint64_t value, size_t at, uint32_t bits)
{
    if (at < sizeof value)
        return value | (uint64_t)bits << 8 * at;
    return (value ^ bits) * 0x9e3779b97f4a7c15u;
}

int ixa_came_from(uintptr_t address, size_t size, ixa_copy_t *copy)
{
    if (!is_whole(address, size))
        return 0;
    *copy = (ixa_copy_t){0, 0, 0};
    int known = 1;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        ixa_copies_t *copies = copies_of(address + at);
        unsigned g = grain_of(address + at);
        if (!copies || !copies->grain[g].from ||
            copies->grain[g].from_value != word_at(address + at))
            return 0;
        if (at == 0)
            copy->origin = copies->grain[g].from;
        if (copies->grain[g].from != copy->origin + at)
            return 0;
        copy->value = with_bits(copy->value, at, copies->grain[g].from_value);
        known &= copies->grain[g].from_stamp != 0;
        if (copies->grain[g].from_stamp > copy->stamp)
            copy->stamp = copies->grain[g].from_stamp;
    }
    if (!known)
        copy->stamp = 0;
    return 1;
}

int ixa_went_to(uintptr_t address, size_t size, ixa_copy_t *copy)
{
    ixa_verify_unpacked();
    if (!is_whole(address, size))
        return 0;
    *copy = (ixa_copy_t){0, IXA_UNREAD, 0};
    uintptr_t place = 0;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        ixa_copies_t *copies = copies_of(address + at);
        unsigned g = grain_of(address + at);
        if (!copies || !copies->grain[g].to)
            return 0;
        if (at == 0)
            place = copies->grain[g].to;
        if (copies->grain[g].to != place + at)
            return 0;
        copy->value = with_bits(copy->value, at, copies->grain[g].to_value);
        if (copies->grain[g].to_stamp < copy->stamp)
            copy->stamp = copies->grain[g].to_stamp;
    }
    return 1;
}
