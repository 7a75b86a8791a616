/* The symbols that -fsanitize=thread instrumentation calls. Accesses to memory that was never
 * communicated leave after one table look-up; hooks run before main, so all state is static.
 * Where the assembler has put that question into the program (recorder/hooks.py), only the accesses
 * that it concerns come here, by the entries whose names begin with imbrex_access. */
#include "access/hooks.h"
#include "access/access.h"

#include <stdio.h>
#include <string.h>

#define CODE __builtin_return_address(0)

/* The runtime finds the shadow by this name. */
__attribute__((visibility("default"))) ixa_memory_t *imbrex_access_memory = &ixa_shadow;

/* Whether functions that are there twice (recorder/duplicates.py) run their plain code. */
__attribute__((visibility("default"))) int imbrex_access_plain;

uint8_t ixa_lines[IXA_LINES + IXA_LINES_AHEAD];

/* Strings that the wrappers put into objects: places of accesses without a hook. Each instrumented
 * library has its own, and a copy of this; the table is the program's. */
extern const char unseen_begin[] __asm__("__start_imbrex_unseen")
    __attribute__((weak, visibility("hidden")));
extern const char unseen_end[] __asm__("__stop_imbrex_unseen")
    __attribute__((weak, visibility("hidden")));

/* Also called by instrumented libraries. */
__attribute__((visibility("default"))) void imbrex_access_unseen(const char *begin, const char *end)
{
    char *unseen = imbrex_access_memory->unseen;
    for (const char *at = begin; at < end; at += strlen(at) + 1) {
        size_t used = strlen(unseen), room = sizeof imbrex_access_memory->unseen - used;
        if (*at && strlen(at) + 3 < room)
            snprintf(unseen + used, room, "%s%s", used ? ", " : "", at);
    }
}

/* What duplicates.py puts beside calls of MPI. */
extern ixa_site_t sites_begin[] __asm__("__start_imbrex_sites")
    __attribute__((weak, visibility("hidden")));
extern ixa_site_t sites_end[] __asm__("__stop_imbrex_sites")
    __attribute__((weak, visibility("hidden")));
__attribute__((visibility("default"))) ixa_sites_t imbrex_access_sites;

static __attribute__((constructor)) void say_exact(void)
{
    imbrex_access_sites = (ixa_sites_t){sites_begin, sites_end};
    imbrex_access_memory->exact = 1;
    if (unseen_begin)
        imbrex_access_unseen(unseen_begin, unseen_end);
}

static __attribute__((noinline, cold)) void forbidden(uintptr_t address, size_t size, int is_write,
                                                      const void *code)
{
    if (ixa_shadow.forbidden)
        ixa_shadow.forbidden(address, size, is_write, code);
}

/* An access that lies in one page. */
static inline void access_page(ixa_page_t *page, uintptr_t address, size_t size, int is_write,
                               const void *code)
{
    unsigned from = (unsigned)(address & (IXA_PAGE - 1)), last = from + (unsigned)size - 1;
    if (page->stamps) {
        if (is_write)
            ixa_write_grains(page, from / IXA_GRAIN, last / IXA_GRAIN);
        else
            ixa_read_grains(page, from / IXA_GRAIN, last / IXA_GRAIN);
    }
    if (page->held) {
        uint8_t any = 0;
        for (unsigned b = from; b <= last; b++)
            any |= page->held[b];
        if (__builtin_expect(any & (is_write ? 0xff : IXA_RECEIVE), 0))
            forbidden(address, size, is_write, code);
    }
}

static void access_any(uintptr_t address, size_t size, int is_write, const void *code)
{
    for (uintptr_t end = address + size; address < end;) {
        uintptr_t stop = (address | (IXA_PAGE - 1)) + 1;
        if (stop > end)
            stop = end;
        ixa_page_t *page = ixa_page(address);
        if (page)
            access_page(page, address, stop - address, is_write, code);
        address = stop;
    }
}

static inline int is_communicated(uintptr_t address)
{
    uint8_t line = ixa_lines[ixa_line(address)];
    return __builtin_expect(line != 0, 0) && line & ixa_word_bit(address);
}

/* The first read of what has arrived. */
static int is_news(uintptr_t address)
{
    const ixa_page_t *page = ixa_page(address);
    return page && page->stamps &&
           page->stamps->grain[(address & (IXA_PAGE - 1)) / IXA_GRAIN].first_read == IXA_UNREAD;
}

/* Elements of 4 and 8 bytes are followed through copies (`pairs`): a read that a write of the same
 * size may follow, a write that may write what was last read. */
static void slow(uintptr_t address, size_t size, int is_write, int pairs, int just_read,
                 const void *code)
{
    int news = pairs && !is_write && is_news(address);
    access_any(address, size, is_write, code);
    if (news)
        ixa_may_unpack(address, size);
    else if (pairs && is_write)
        ixa_may_copy(address, size, size == 4 ? ixa_source4 : ixa_source8, just_read);
}

static inline void hook(void *pointer, size_t size, int is_write, int aligned, const void *code)
{
    uintptr_t address = (uintptr_t)pointer;
    int pairs = aligned && size >= 4;
    ixa_clock++;
    if (pairs && !is_write)
        *(size == 4 ? &ixa_source4 : &ixa_source8) = address;
    /* What is aligned cannot cross a word; the rest touches two, or three. */
    if (is_communicated(address) ||
        (!aligned &&
         (is_communicated(address + size / 2) || is_communicated(address + size - 1))) ||
        (pairs && is_write && __builtin_expect(ixa_pending != 0, 0)))
        slow(address, size, is_write, pairs, 0, code);
}

/* Whether any of up to 8 aligned bytes is in flight. */
static inline int any_held(const ixa_page_t *page, uintptr_t address, size_t size)
{
    typedef uint64_t __attribute__((may_alias)) word_t;
    uintptr_t at = address & (IXA_PAGE - 1);
    uint64_t held = *(const word_t *)(page->held + (at & ~(uintptr_t)7));
    return (held >> 8 * (at & 7)) & (UINT64_MAX >> (64 - 8 * size)) ? 1 : 0;
}

/* Whether an aligned access of up to 8 bytes, in a word that holds communicated memory, concerns
 * nobody: it is to the other half of the word, or a read after the first. */
static inline int is_idle(uintptr_t address, size_t size, int is_write)
{
    const ixa_page_t *page = ixa_page(address);
    unsigned from = (unsigned)(address & (IXA_PAGE - 1)) / IXA_GRAIN;
    unsigned last = (unsigned)((address & (IXA_PAGE - 1)) + size - 1) / IXA_GRAIN;
    if (!page || (page->held && any_held(page, address, size)))
        return 0;
    if (!page->stamps)
        return 1;
    const ixa_stamps_t *stamps = page->stamps;
    if (!(stamps->grain[from].watched | stamps->grain[last].watched))
        return 1;
    const ixa_copies_t *copies = page->copies;
    return !is_write && stamps->grain[from].first_read != IXA_UNREAD &&
           stamps->grain[last].first_read != IXA_UNREAD &&
           !(copies && (copies->grain[from].back | copies->grain[last].back));
}

/* An access that was counted already, with `later` others that are still to come. */
static inline void late(void *pointer, size_t size, int is_write, int pairs, unsigned later,
                        const void *code)
{
    uintptr_t address = (uintptr_t)pointer;
    if (size <= 8 && (address & (size - 1)) == 0 && !(pairs && is_write && ixa_pending) &&
        is_idle(address, size, is_write))
        return;
    ixa_clock -= later;
    slow(address, size, is_write, pairs, 1, code);
    ixa_clock += later;
}

static int range_tracked(uintptr_t address, size_t size)
{
    for (uintptr_t at = address; at < address + size; at += IXA_PAGE)
        if (ixa_page(at))
            return 1;
    return size > 0 && ixa_page(address + size - 1);
}

void ixa_range(const void *pointer, size_t size, int is_write, const void *code)
{
    uintptr_t address = (uintptr_t)pointer, end = address + size;
    if (!range_tracked(address, size)) {
        ixa_clock += (size + 7) / 8;
        return;
    }
    for (uintptr_t at = address; at < end; at += 8) {
        ixa_clock++;
        access_any(at, end - at < 8 ? end - at : 8, is_write, code);
    }
}

void ixa_copied_range(void *to, const void *from, size_t size, const void *code)
{
    ixa_before_copy((uintptr_t)to, (uintptr_t)from, size);
    ixa_range(from, size, 0, code);
    ixa_range(to, size, 1, code);
    ixa_after_copy((uintptr_t)to, (uintptr_t)from, size);
}

/* The compiler calls one function for each size of loads and stores, aligned or not, volatile or
 * not. */

#define ONE(name, size, is_write, aligned)                                                         \
    void __tsan_##name##size(void *p)                                                              \
    {                                                                                              \
        hook(p, size, is_write, aligned, CODE);                                                    \
    }
/* And the same for those who have the registers kept (keep.c, registers.h). */
#define ALL(name, size, is_write)                                                                  \
    void imbrex_access_all_##name##size(void *p, unsigned later, const void *code)                 \
    {                                                                                              \
        (void)later;                                                                               \
        hook(p, size, is_write, (size) <= 8, code);                                                \
    }
#define UPDATE(name, size, aligned)                                                                \
    void __tsan_##name##size(void *p)                                                              \
    {                                                                                              \
        hook(p, size, 0, aligned, CODE);                                                           \
        hook(p, size, 1, aligned, CODE);                                                           \
    }
#define LATE(name, size, is_write, pairs)                                                          \
    void imbrex_access_##name##size(void *p, unsigned later)                                       \
    {                                                                                              \
        late(p, size, is_write, pairs, later, CODE);                                               \
    }                                                                                              \
    void imbrex_access_late_##name##size(void *p, unsigned later, const void *code)                \
    {                                                                                              \
        late(p, size, is_write, pairs, later, code);                                               \
    }
#define ACCESSES(size)                                                                             \
    ONE(read, size, 0, (size) <= 8)                                                                \
    ONE(write, size, 1, (size) <= 8)                                                               \
    ONE(volatile_read, size, 0, (size) <= 8)                                                       \
    ONE(volatile_write, size, 1, (size) <= 8)                                                      \
    ONE(unaligned_read, size, 0, 0)                                                                \
    ONE(unaligned_write, size, 1, 0)                                                               \
    ONE(unaligned_volatile_read, size, 0, 0)                                                       \
    ONE(unaligned_volatile_write, size, 1, 0)                                                      \
    ALL(read, size, 0)                                                                             \
    ALL(write, size, 1)                                                                            \
    ALL(volatile_read, size, 0)                                                                    \
    ALL(volatile_write, size, 1)                                                                   \
    UPDATE(read_write, size, (size) <= 8)                                                          \
    UPDATE(unaligned_read_write, size, 0)                                                          \
    LATE(read, size, 0, 0)                                                                         \
    LATE(write, size, 1, 0)
LATE(source, 4, 0, 1)
LATE(source, 8, 0, 1)
LATE(copy, 4, 1, 1)
LATE(copy, 8, 1, 1)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void)
{
}
void __tsan_func_entry(void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void)
{
}
/* The assignment of a whole structure or array: gcc has it written first, then read, and carries it
 * out behind both. */
static __thread struct {
    void *address;
    size_t size;
    uint64_t clock; /* behind it */
} written_range;

void __tsan_read_range(void *p, size_t n)
{
    int copies = written_range.size == n && written_range.clock == ixa_clock && n % IXA_GRAIN == 0;
    uintptr_t to = (uintptr_t)written_range.address;
    if (copies)
        ixa_before_copy(to, (uintptr_t)p, n);
    ixa_range(p, n, 0, CODE);
    if (copies)
        ixa_after_copy(to, (uintptr_t)p, n);
    written_range.size = 0;
}
void __tsan_write_range(void *p, size_t n)
{
    ixa_range(p, n, 1, CODE);
    written_range.address = p;
    written_range.size = n;
    written_range.clock = ixa_clock;
}
void __tsan_vptr_update(void **p, void *v)
{
    (void)v;
    hook(p, 8, 1, 1, CODE);
}
void __tsan_vptr_read(void **p)
{
    hook(p, 8, 0, 1, CODE);
}

/* Copies are seen as the compiler calls them, and as the user does where the program is linked with
 * --wrap. */

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);

#define COPY(name, real)                                                                           \
    void *name(void *d, const void *s, size_t n)                                                   \
    {                                                                                              \
        int followed = range_tracked((uintptr_t)s, n) || range_tracked((uintptr_t)d, n);           \
        if (followed)                                                                              \
            ixa_before_copy((uintptr_t)d, (uintptr_t)s, n);                                        \
        ixa_range(s, n, 0, CODE);                                                                  \
        ixa_range(d, n, 1, CODE);                                                                  \
        real(d, s, n);                                                                             \
        if (followed)                                                                              \
            ixa_after_copy((uintptr_t)d, (uintptr_t)s, n);                                         \
        return d;                                                                                  \
    }
#define SET(name, real)                                                                            \
    void *name(void *d, int c, size_t n)                                                           \
    {                                                                                              \
        ixa_range(d, n, 1, CODE);                                                                  \
        return real(d, c, n);                                                                      \
    }
/* --wrap would lead memcpy itself back here. */
COPY(__tsan_memcpy, __real_memcpy)
COPY(__tsan_memmove, __real_memmove)
SET(__tsan_memset, __real_memset)
COPY(__wrap_memcpy, __real_memcpy)
COPY(__wrap_memmove, __real_memmove)
SET(__wrap_memset, __real_memset)

/* Atomics are carried out as the compiler would do it; they are accesses, not synchronization to
 * check. */

#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *a, int o)                                 \
    {                                                                                              \
        (void)o;                                                                                   \
        hook((void *)a, sizeof(type), 0, 1, CODE);                                                 \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int o)                              \
    {                                                                                              \
        (void)o;                                                                                   \
        hook((void *)a, sizeof(type), 1, 1, CODE);                                                 \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *a, type v, int o)                           \
    {                                                                                              \
        (void)o;                                                                                   \
        hook((void *)a, sizeof(type), 1, 1, CODE);                                                 \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v, int o,    \
                                                      int f)                                       \
    {                                                                                              \
        (void)o;                                                                                   \
        (void)f;                                                                                   \
        hook((void *)a, sizeof(type), 1, 1, CODE);                                                 \
        return __atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v, int o,      \
                                                    int f)                                         \
    {                                                                                              \
        return __tsan_atomic##bits##_compare_exchange_strong(a, c, v, o, f);                       \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v, int o,       \
                                                    int f)                                         \
    {                                                                                              \
        __tsan_atomic##bits##_compare_exchange_strong(a, &c, v, o, f);                             \
        return c;                                                                                  \
    }
#define FETCH(bits, type, name)                                                                    \
    type __tsan_atomic##bits##_fetch_##name(volatile type *a, type v, int o)                       \
    {                                                                                              \
        (void)o;                                                                                   \
        hook((void *)a, sizeof(type), 0, 1, CODE);                                                 \
        hook((void *)a, sizeof(type), 1, 1, CODE);                                                 \
        return __atomic_fetch_##name(a, v, __ATOMIC_SEQ_CST);                                      \
    }
#define ATOMICS(bits, type)                                                                        \
    ATOMIC(bits, type)                                                                             \
    FETCH(bits, type, add)                                                                         \
    FETCH(bits, type, sub)                                                                         \
    FETCH(bits, type, and)                                                                         \
    FETCH(bits, type, or)                                                                          \
    FETCH(bits, type, xor)                                                                         \
    FETCH(bits, type, nand)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int o)
{
    (void)o;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int o)
{
    (void)o;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
