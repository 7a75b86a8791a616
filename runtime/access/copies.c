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
    unsigned g = unpacked.grain;
    uint32_t words[2] = {0, 0};
    unpacked.copies = NULL;
    if (!copies || !copies->to[g])
        return;
    int gone = checked_words_at(copies->to[g], unpacked.bytes, words);
    for (unsigned i = 0; i < unpacked.bytes / IXA_GRAIN; i++)
        if (gone || words[i] != copies->to_value[g + i])
            copies->to[g] = 0;
}

void ixa_may_unpack(uintptr_t address, size_t size)
{
    ixa_copies_t *copies = make_copies(address);
    verify_unpacked();
    if (!copies)
        return;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        copies->to[grain_of(address + at)] = 0;
        copies->to_value[grain_of(address + at)] = word_at(address + at);
    }
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
        ixa_copies_t *copies = copies_of(pending);
        unsigned g = grain_of(pending);
        if (copies && ixa_shadow.follow(address, size) == 0) {
            /* Behind the write, which is now, its first read counts. */
            ixa_shadow.write(address, size);
            ixa_shadow.arm(address, size);
            for (size_t at = 0; at < size; at += IXA_GRAIN)
                copies->to[g + at / IXA_GRAIN] = address + at;
            unpacked.copies = copies;
            unpacked.grain = g;
            unpacked.bytes = size;
        }
        return;
    }
    ixa_copies_t *copies = make_copies(address);
    if (!copies || (!just_read && checked_words_at(source, size, words)))
        return;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        unsigned g = grain_of(address + at);
        copies->from[g] = source + at;
        copies->from_value[g] = just_read ? word_at(source + at) : words[at / IXA_GRAIN];
        copies->from_stamp[g] = ixa_shadow.last_write(source, size);
    }
}

/* ---- Copies of whole ranges: memcpy, and MPI_Pack --------------------------------------------
 */

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
        if (!page || !page->stamps || page->stamps->first_read[g] != IXA_UNREAD)
            continue;
        ixa_copies_t *copies = make_copies(from + at);
        if (!copies)
            continue;
        copies->to[g] = (to + at) | FRESH;
        copies->to_value[g] = word_at(from + at);
    }
}

static void after_copy_of(uintptr_t to, uintptr_t from)
{
    ixa_copies_t *source = copies_of(from);
    unsigned g = grain_of(from);
    if (source && source->to[g] == (to | FRESH)) {
        source->to[g] = 0;
        if (ixa_shadow.follow(to, IXA_GRAIN) == 0) {
            ixa_shadow.write(to, IXA_GRAIN);
            ixa_shadow.arm(to, IXA_GRAIN);
            source->to[g] = to;
        }
        return;
    }
    ixa_copies_t *copies = make_copies(to);
    if (!copies)
        return;
    copies->from[grain_of(to)] = from;
    copies->from_value[grain_of(to)] = word_at(to);
    copies->from_stamp[grain_of(to)] = ixa_shadow.last_write(from, IXA_GRAIN);
}

void ixa_after_copy(uintptr_t to, uintptr_t from, size_t size)
{
    if (may_follow(to, from, size))
        for (size_t at = 0; at + IXA_GRAIN <= size; at += IXA_GRAIN)
            after_copy_of(to + at, from + at);
}

/* ---- What became of an element ---------------------------------------------------------------
 */

static int is_whole(uintptr_t address, size_t size)
{
    return size > 0 && (address | size) % IXA_GRAIN == 0;
}

static uint64_t with_word(uint64_t value, size_t at, uint32_t word)
{
    if (at < sizeof value)
        return value | (uint64_t)word << 8 * at;
    return (value ^ word) * 0x9e3779b97f4a7c15u;
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
        if (!copies || !copies->from[g] || copies->from_value[g] != word_at(address + at))
            return 0;
        if (at == 0)
            copy->origin = copies->from[g];
        if (copies->from[g] != copy->origin + at)
            return 0;
        copy->value = with_word(copy->value, at, copies->from_value[g]);
        known &= copies->from_stamp[g] != 0;
        if (copies->from_stamp[g] > copy->stamp)
            copy->stamp = copies->from_stamp[g];
    }
    if (!known)
        copy->stamp = 0;
    return 1;
}

int ixa_went_to(uintptr_t address, size_t size, ixa_copy_t *copy)
{
    verify_unpacked();
    if (!is_whole(address, size))
        return 0;
    *copy = (ixa_copy_t){0, IXA_UNREAD, 0};
    uintptr_t place = 0;
    for (size_t at = 0; at < size; at += IXA_GRAIN) {
        ixa_copies_t *copies = copies_of(address + at);
        unsigned g = grain_of(address + at);
        if (!copies || !copies->to[g])
            return 0;
        if (at == 0)
            place = copies->to[g];
        if (copies->to[g] != place + at)
            return 0;
        copy->value = with_word(copy->value, at, copies->to_value[g]);
    }
    copy->stamp = ixa_shadow.first_read(place, size);
    return 1;
}
