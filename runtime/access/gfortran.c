/* What libgfortran, which is not instrumented, does with whole arrays: the linker leads these calls
 * here (--wrap). Weak: a program in C has none of them. */
#include "access/access.h"
#include "access/hooks.h"

/* gfortran's array descriptor, since version 8. Strides are in elements. */
typedef struct {
    ptrdiff_t stride, low, high;
} dimension_t;

typedef struct {
    char *base;
    size_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    dimension_t dimension[];
} array_t;

enum { MOST_RANKS = 15 };

/* Elements of an array, one after the other as Fortran orders them. */
typedef struct {
    const array_t *array;
    ptrdiff_t index[MOST_RANKS];
    char *at; /* NULL behind the last */
} walk_t;

static ptrdiff_t extent(const array_t *a, int k)
{
    return a->dimension[k].high - a->dimension[k].low + 1;
}

static walk_t first_of(const array_t *a)
{
    walk_t walk = {.array = a, .at = a->base};
    for (int k = 0; k < a->rank; k++)
        if (extent(a, k) <= 0)
            walk.at = NULL;
    return walk;
}

static void step(walk_t *walk)
{
    const array_t *a = walk->array;
    for (int k = 0; k < a->rank; k++) {
        ptrdiff_t bytes = a->dimension[k].stride * (ptrdiff_t)a->element_bytes;
        walk->at += bytes;
        if (++walk->index[k] < extent(a, k))
            return;
        walk->at -= bytes * walk->index[k];
        walk->index[k] = 0;
    }
    walk->at = NULL;
}

static void touch(const array_t *a, int is_write, const void *code)
{
    if (a)
        for (walk_t walk = first_of(a); walk.at; step(&walk))
            ixa_range(walk.at, a->element_bytes, is_write, code);
}

#define CODE __builtin_return_address(0)
#define REAL(name) __real__gfortran_##name
#define WRAP(name) __wrap__gfortran_##name

/* A section that is passed on as a contiguous copy, and back. */
__attribute__((weak)) void *REAL(internal_pack)(array_t *);
__attribute__((weak)) void REAL(internal_unpack)(array_t *, void *);

void *WRAP(internal_pack)(array_t *a)
{
    char *packed = REAL(internal_pack)(a), *to = packed;
    if (packed != a->base)
        for (walk_t walk = first_of(a); walk.at; step(&walk), to += a->element_bytes)
            ixa_copied_range(to, walk.at, a->element_bytes, CODE);
    return packed;
}

void WRAP(internal_unpack)(array_t *a, void *packed)
{
    const char *from = packed;
    REAL(internal_unpack)(a, packed);
    if (packed && packed != a->base)
        for (walk_t walk = first_of(a); walk.at; step(&walk), from += a->element_bytes)
            ixa_copied_range(walk.at, from, a->element_bytes, CODE);
}

/* Intrinsics: they read their arrays (of the arguments b, c and d those that `reads` has a bit for)
 * and write their result. Pointers and numbers travel alike. */
#define INTRINSIC(name, reads)                                                                     \
    __attribute__((weak)) void REAL(name)(array_t *, array_t *, array_t *, array_t *, void *,      \
                                          void *);                                                 \
    void WRAP(name)(array_t * result, array_t * b, array_t * c, array_t * d, void *e, void *f)     \
    {                                                                                              \
        touch((reads)&1 ? b : NULL, 0, CODE);                                                      \
        touch((reads)&2 ? c : NULL, 0, CODE);                                                      \
        touch((reads)&4 ? d : NULL, 0, CODE);                                                      \
        REAL(name)(result, b, c, d, e, f);                                                         \
        touch(result, 1, CODE);                                                                    \
    }

#include "access/gfortran.def"
