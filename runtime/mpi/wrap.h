/* What the generated wrappers are written in. */
#ifndef IMBREX_MPI_WRAP_H
#define IMBREX_MPI_WRAP_H

#include <stdlib.h>

#include "base/measuring.h"
#include "generated/operations.h"
#include "mpi/arguments.h"
#include "mpi/completion.h"
#include "mpi/comms.h"
#include "mpi/library.h"
#include "mpi/lifecycle.h"
#include "mpi/observers.h"
#include "mpi/one_sided.h"
#include "mpi/thread_level.h"

/* Set by a wrapper in another language that forwards to the C ones: the user's return address. NULL
 * where the wrapper's own is the user's, which each thread finds out in its first call: until then,
 * and for ever where Python runs, IX_NOT_ASKED. */
#define IX_NOT_ASKED ((const void *)1)
extern IX_HIDDEN __thread const void *ix_caller;
IX_HIDDEN const void *ix_ask_caller(const void *returns);
IX_HIDDEN const char *ix_ask_frame(const char *frame);

/* MPI_Pcontrol: 0 pauses, 1 resumes; the same level again does nothing. */
IX_HIDDEN void ix_pcontrol(int level);

#define IX_CALLER()                                                                                \
    (IX_LIKELY(!ix_caller)       ? __builtin_return_address(0)                                     \
     : ix_caller == IX_NOT_ASKED ? ix_ask_caller(__builtin_return_address(0))                      \
                                 : ix_caller)

/* The end of the wrapper's stack frame, above which its caller's lies. Not told where the address
 * that IX_CALLER gives is not the wrapper's own. */
#ifdef __x86_64__
#define IX_OWN_FRAME() ((const char *)__builtin_dwarf_cfa())
#else
#define IX_OWN_FRAME() ((const char *)__builtin_frame_address(0))
#endif
#define IX_FRAME()                                                                                 \
    (IX_LIKELY(!ix_caller)       ? IX_OWN_FRAME()                                                  \
     : ix_caller == IX_NOT_ASKED ? ix_ask_frame(IX_OWN_FRAME())                                    \
                                 : NULL)

#define IX_UNLESS_MEASURING(forward)                                                               \
    if (IX_UNLIKELY(!ix_measuring)) {                                                              \
        ix_resolve_once();                                                                         \
        forward;                                                                                   \
    }

/* The same of a call that leaves nothing open. Where nothing is recorded, a progress thread alone
 * wants to know that the program is inside MPI. */
#define IX_UNLESS_RECORDING(forward, call, leave)                                                  \
    if (IX_UNLIKELY(ix_measuring != IX_RECORDING)) {                                               \
        ix_resolve_once();                                                                         \
        if (!ix_measuring) {                                                                       \
            forward;                                                                               \
        }                                                                                          \
        int ix_marked = ix_presence && ix_presence->entered();                                     \
        call;                                                                                      \
        if (ix_marked)                                                                             \
            ix_presence->left();                                                                   \
        leave;                                                                                     \
    }

#define IX_MAX(a, b)                                                                               \
    __extension__({                                                                                \
        int64_t ix_a = (a), ix_b = (b);                                                            \
        ix_a > ix_b ? ix_a : ix_b;                                                                 \
    })

/* Sum of the first n of an array of counts, of whatever integer type, but for those of the bits in
 * `missing`. */
#define IX_SUM(counts, n, missing)                                                                 \
    __extension__({                                                                                \
        int64_t ix_sum = 0;                                                                        \
        for (int32_t ix_k = 0, ix_n = (n); ix_k < ix_n; ix_k++)                                    \
            if (!ix_is_missing(missing, ix_k))                                                     \
                ix_sum += (int64_t)(counts)[ix_k];                                                 \
        ix_sum;                                                                                    \
    })

#define IX_SUM_TYPES(counts, types, n, missing)                                                    \
    __extension__({                                                                                \
        int64_t ix_sum = 0;                                                                        \
        for (int32_t ix_k = 0, ix_n = (n); ix_k < ix_n; ix_k++)                                    \
            if ((counts)[ix_k] && !ix_is_missing(missing, ix_k))                                   \
                ix_sum += (int64_t)(counts)[ix_k] * ix_type_bytes((types)[ix_k]);                  \
        ix_sum;                                                                                    \
    })

/* Request handles as they were before the library overwrites them, and statuses where the user
 * wants none: on the stack up to this many, else from the heap. Of the stack no more than is
 * needed: the library's own frames below shall lie where the cache already holds them. */
#define IX_ON_STACK 256

#define IX_SAVE_REQUESTS(count, requests)                                                          \
    size_t ix_count = (count) > 0 ? (size_t)(count) : 0;                                           \
    MPI_Request ix_few[ix_count <= IX_ON_STACK ? ix_count + 1 : 1];                                \
    MPI_Request *ix_saved =                                                                        \
        IX_LIKELY(ix_count <= IX_ON_STACK) ? ix_few : malloc(ix_count * sizeof *ix_saved);         \
    if (IX_UNLIKELY(!ix_saved)) {                                                                  \
        ix_saved = ix_few;                                                                         \
        ix_count = 0;                                                                              \
    }                                                                                              \
    for (size_t ix_k = 0; ix_k < ix_count; ix_k++)                                                 \
    ix_saved[ix_k] = (requests)[ix_k]

#define IX_RELEASE_REQUESTS()                                                                      \
    if (IX_UNLIKELY(ix_saved != ix_few))                                                           \
    free(ix_saved)

#define ix_statuses_wanted(count, statuses)                                                        \
    ((statuses) == MPI_STATUSES_IGNORE && (count) > 0 && (count) <= IX_ON_STACK ? (count) : 1)

#define IX_OWN_STATUSES(count, statuses)                                                           \
    MPI_Status ix_few_statuses[ix_statuses_wanted(count, statuses)];                               \
    MPI_Status *ix_own = NULL;                                                                     \
    if ((statuses) == MPI_STATUSES_IGNORE) {                                                       \
        ix_own =                                                                                   \
            (count) <= IX_ON_STACK ? ix_few_statuses : malloc((size_t)(count) * sizeof *ix_own);   \
        if (IX_LIKELY(ix_own))                                                                     \
            statuses = ix_own;                                                                     \
        else /* no memory: which ones completed is not known, their ends are not either */         \
            ix_count = 0;                                                                          \
    }

#define IX_RELEASE_STATUSES()                                                                      \
    if (IX_UNLIKELY(ix_own && ix_own != ix_few_statuses))                                          \
    free(ix_own)

#define ix_is_index(index, count) ((index) >= 0 && (index) < (count))

#endif
