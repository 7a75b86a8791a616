/* Naming parts of a program for Imbrex: docs/guide/interfaces.md.
 *
 *     imbrex_begin("halo");          C++:  { imbrex::section halo("halo"); ... }
 *     ...
 *     imbrex_end("halo");
 *
 * Sections nest, per thread. This header is all a program needs: nothing is linked, and without the
 * Imbrex runtime in the process both calls do nothing (a load and a test). C99 and C++11 onwards.
 */
#ifndef IMBREX_IMBREX_H
#define IMBREX_IMBREX_H

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime exports imbrex_section_begin and imbrex_section_end of this type. The name has
 * `length` bytes and need not end in a null byte. */
typedef void imbrex_section_call(const char *name, size_t length);

#if defined(__GNUC__) && defined(__ELF__)
/* dlsym under a name of our own, so that it cannot clash with dlfcn.h, and weak, so that a static
 * program links without it. (Weak references to the runtime's own functions would not do: the
 * linker makes them null for good in programs that are not position independent.) */
extern void *imbrex_private_dlsym(void *handle, const char *symbol) __asm__("dlsym")
    __attribute__((weak));
#endif

/* The runtime's function (0: begin, 1: end), or null where the runtime is not in this process. */
static inline imbrex_section_call *imbrex_private_find(int which)
{
    imbrex_section_call *function = NULL;
#if defined(__GNUC__) && defined(__ELF__)
    static void *found[2];
    static int known; /* threads that look up at once find the same */
    if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
        if (imbrex_private_dlsym != NULL) {
            /* A null handle is RTLD_DEFAULT: the first definition in the process. */
            __atomic_store_n(&found[0], imbrex_private_dlsym(NULL, "imbrex_section_begin"),
                             __ATOMIC_RELAXED);
            __atomic_store_n(&found[1], imbrex_private_dlsym(NULL, "imbrex_section_end"),
                             __ATOMIC_RELAXED);
        }
        __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
    }
    {
        void *address = __atomic_load_n(&found[which], __ATOMIC_RELAXED);
        memcpy(&function, &address,
               sizeof function); /* ISO C has no cast from an object to a function pointer */
    }
#else
    (void)which;
#endif
    return function;
}

/* Whether the runtime is in this process. */
static inline int imbrex_present(void)
{
    return imbrex_private_find(0) != NULL && imbrex_private_find(1) != NULL;
}

/* Enters the section `name` of the calling thread. */
static inline void imbrex_begin(const char *name)
{
    imbrex_section_call *begin = imbrex_private_find(0);
    if (begin != NULL)
        begin(name, name != NULL ? strlen(name) : 0);
}

/* Leaves the section `name`. If it is not the innermost open section, or not open at all, the
 * runtime counts the mistake and the program goes on. */
static inline void imbrex_end(const char *name)
{
    imbrex_section_call *end = imbrex_private_find(1);
    if (end != NULL)
        end(name, name != NULL ? strlen(name) : 0);
}

/* A program can say itself where the data of a message are produced and consumed:
 *
 *     imbrex_produce_begin("edge");
 *     for (i = 0; i < n; i++)
 *         out[i] = ...;
 *     imbrex_produce_end("edge", out, n);       n elements of the message in `out` were produced
 *     ...
 *     MPI_Isend(out, ...); MPI_Irecv(in, ...); MPI_Waitall(...);
 *     ...
 *     imbrex_consume_begin("edge", in);         the message in `in` is read now
 *     for (i = 0; i < n; i++)
 *         sum += in[i];
 *     imbrex_consume_end("edge", n);
 *
 * `buffer` is any address in the message. docs/guide/interfaces.md says what becomes of it. */
typedef void imbrex_region_call(int which, const char *name, size_t length, const void *buffer,
                                size_t elements);

static inline void imbrex_private_region(int which, const char *name, const void *buffer,
                                         size_t elements)
{
#if defined(__GNUC__) && defined(__ELF__)
    static void *found;
    static int known;
    imbrex_region_call *call = NULL;
    void *address;
    if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
        if (imbrex_private_dlsym != NULL)
            __atomic_store_n(&found, imbrex_private_dlsym(NULL, "imbrex_access_region"),
                             __ATOMIC_RELAXED);
        __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
    }
    address = __atomic_load_n(&found, __ATOMIC_RELAXED);
    memcpy(&call, &address, sizeof call);
    if (call != NULL && name != NULL)
        call(which, name, strlen(name), buffer, elements);
#else
    (void)which;
    (void)name;
    (void)buffer;
    (void)elements;
#endif
}

static inline void imbrex_produce_begin(const char *name)
{
    imbrex_private_region(0, name, NULL, 0);
}

static inline void imbrex_produce_end(const char *name, const void *buffer, size_t elements)
{
    imbrex_private_region(1, name, buffer, elements);
}

static inline void imbrex_consume_begin(const char *name, const void *buffer)
{
    imbrex_private_region(2, name, buffer, 0);
}

static inline void imbrex_consume_end(const char *name, size_t elements)
{
    imbrex_private_region(3, name, NULL, elements);
}

#ifdef __cplusplus
}

namespace imbrex
{

/* The scope of one object is one section. The name must live as long as the object (a literal
 * does). */
class section
{
  public:
    explicit section(const char *name) noexcept : name_(name)
    {
        imbrex_begin(name_);
    }
    ~section()
    {
        imbrex_end(name_);
    }
    section(const section &) = delete;
    section &operator=(const section &) = delete;

  private:
    const char *name_;
};

} /* namespace imbrex */
#endif

#endif
