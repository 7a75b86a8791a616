/* The symbols that -fsanitize=thread instrumentation calls. Accesses to memory that was never
 * communicated leave after one table look-up; hooks run before main, so all state is static. */
#include "access.h"
#include "times.h"

#include <string.h>

static inline int tracked(uintptr_t address)
{
    return ixa_filter[(address >> IXA_PAGE_BITS) & (IXA_FILTER_SIZE - 1)];
}

static inline void write_hook(void *pointer, size_t size)
{
    uintptr_t address = (uintptr_t)pointer;
    ixa_clock++;
    if (__builtin_expect(tracked(address) || tracked(address + size - 1), 0))
        ixa_write(address, size);
}

static inline void read_hook(void *pointer, size_t size)
{
    uintptr_t address = (uintptr_t)pointer;
    ixa_clock++;
    if (__builtin_expect(tracked(address) || tracked(address + size - 1), 0))
        ixa_read(address, size);
}

static int range_tracked(uintptr_t address, size_t size)
{
    for (uintptr_t at = address; at < address + size; at += (uintptr_t)1 << IXA_PAGE_BITS)
        if (tracked(at))
            return 1;
    return size > 0 && tracked(address + size - 1);
}

/* A range is written (read) eight bytes after eight bytes, as the loop that it stands for. */
static void write_range(const void *pointer, size_t size)
{
    uintptr_t address = (uintptr_t)pointer, end = address + size;
    if (!range_tracked(address, size)) {
        ixa_clock += (size + 7) / 8;
        return;
    }
    for (uintptr_t at = address; at < end; at += 8) {
        ixa_clock++;
        ixa_write(at, end - at < 8 ? end - at : 8);
    }
}

static void read_range(const void *pointer, size_t size)
{
    uintptr_t address = (uintptr_t)pointer, end = address + size;
    if (!range_tracked(address, size)) {
        ixa_clock += (size + 7) / 8;
        return;
    }
    for (uintptr_t at = address; at < end; at += 8) {
        ixa_clock++;
        ixa_read(at, end - at < 8 ? end - at : 8);
    }
}

#define ACCESS(size)                                                                               \
    void __tsan_read##size(void *p)                                                                \
    {                                                                                              \
        read_hook(p, size);                                                                        \
    }                                                                                              \
    void __tsan_write##size(void *p)                                                               \
    {                                                                                              \
        write_hook(p, size);                                                                       \
    }                                                                                              \
    void __tsan_unaligned_read##size(void *p)                                                      \
    {                                                                                              \
        read_hook(p, size);                                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##size(void *p)                                                     \
    {                                                                                              \
        write_hook(p, size);                                                                       \
    }                                                                                              \
    void __tsan_volatile_read##size(void *p)                                                       \
    {                                                                                              \
        read_hook(p, size);                                                                        \
    }                                                                                              \
    void __tsan_volatile_write##size(void *p)                                                      \
    {                                                                                              \
        write_hook(p, size);                                                                       \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##size(void *p)                                             \
    {                                                                                              \
        read_hook(p, size);                                                                        \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##size(void *p)                                            \
    {                                                                                              \
        write_hook(p, size);                                                                       \
    }                                                                                              \
    void __tsan_read_write##size(void *p)                                                          \
    {                                                                                              \
        read_hook(p, size);                                                                        \
        write_hook(p, size);                                                                       \
    }                                                                                              \
    void __tsan_unaligned_read_write##size(void *p)                                                \
    {                                                                                              \
        read_hook(p, size);                                                                        \
        write_hook(p, size);                                                                       \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

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
void __tsan_read_range(void *p, size_t n)
{
    read_range(p, n);
}
void __tsan_write_range(void *p, size_t n)
{
    write_range(p, n);
}
void __tsan_vptr_update(void **p, void *v)
{
    (void)v;
    write_hook(p, 8);
}
void __tsan_vptr_read(void **p)
{
    read_hook(p, 8);
}

void *__tsan_memcpy(void *d, const void *s, size_t n)
{
    read_range(s, n);
    write_range(d, n);
    return memcpy(d, s, n);
}
void *__tsan_memmove(void *d, const void *s, size_t n)
{
    read_range(s, n);
    write_range(d, n);
    return memmove(d, s, n);
}
void *__tsan_memset(void *d, int c, size_t n)
{
    write_range(d, n);
    return memset(d, c, n);
}

/* Linked with --wrap: what the compiler or the user calls by name. Our own copies, made within MPI
 * calls, are nobody's accesses. */
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
void *__wrap_memcpy(void *d, const void *s, size_t n)
{
    if (!ixa_inside) {
        read_range(s, n);
        write_range(d, n);
    }
    return __real_memcpy(d, s, n);
}
void *__wrap_memmove(void *d, const void *s, size_t n)
{
    if (!ixa_inside) {
        read_range(s, n);
        write_range(d, n);
    }
    return __real_memmove(d, s, n);
}
void *__wrap_memset(void *d, int c, size_t n)
{
    if (!ixa_inside)
        write_range(d, n);
    return __real_memset(d, c, n);
}

/* Atomics: carried out as the compiler would; they are accesses, not synchronization to check. */
#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *a, int o)                                 \
    {                                                                                              \
        (void)o;                                                                                   \
        read_hook((void *)a, sizeof(type));                                                        \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int o)                              \
    {                                                                                              \
        (void)o;                                                                                   \
        write_hook((void *)a, sizeof(type));                                                       \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *a, type v, int o)                           \
    {                                                                                              \
        (void)o;                                                                                   \
        write_hook((void *)a, sizeof(type));                                                       \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v, int o,    \
                                                      int f)                                       \
    {                                                                                              \
        (void)o;                                                                                   \
        (void)f;                                                                                   \
        write_hook((void *)a, sizeof(type));                                                       \
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
        read_hook((void *)a, sizeof(type));                                                        \
        write_hook((void *)a, sizeof(type));                                                       \
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
