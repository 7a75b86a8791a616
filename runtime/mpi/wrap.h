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
#include "mpi/group_epochs.h"
#include "mpi/one_sided.h"
#include "mpi/thread_level.h"

/* The user's return address, while a wrapper in another language forwards to the C ones. */
extern IX_HIDDEN __thread const void *ix_caller;

/* What was before, for the end of forwarding. */
typedef struct ix_forwarding {
    const void *caller;
    ix_thread *asks; /* NULL: the thread asks for its sites anyway, or in its first call */
} ix_forwarding;

static inline ix_forwarding ix_forward(const void *returns)
{
    ix_thread *t = ix_self;
    ix_forwarding before = {ix_caller, t && !(t->state & IX_ASKS_SITE) ? t : NULL};
    ix_caller = returns;
    if (before.asks)
        t->state |= IX_ASKS_SITE;
    return before;
}

static inline void ix_forwarded(ix_forwarding before)
{
    ix_caller = before.caller;
    if (before.asks)
        before.asks->state &= ~IX_ASKS_SITE;
}

/* MPI_Pcontrol: 0 pauses, 1 resumes; the same level again does nothing. */
IX_HIDDEN void ix_pcontrol(int level);

/* The end of the wrapper's stack frame, above which its caller's lies. (Compilers would take this
 * constant through memory.) */
#ifdef __x86_64__
#define IX_OWN_FRAME()                                                                             \
    __extension__({                                                                                \
        const char *ix_frame = __builtin_dwarf_cfa();                                              \
        __asm__("" : "+r"(ix_frame));                                                              \
        ix_frame;                                                                                  \
    })
#else
#define IX_OWN_FRAME() ((const char *)__builtin_frame_address(0))
#endif

/* CALL_ENTER in a wrapper of C. */
#define IX_ENTER(operation)                                                                        \
    ix_enter_or(operation, __builtin_return_address(0), IX_OWN_FRAME(), ix_enter_asking)

/* The same of any thread: the call site may be another than the address that a wrapper returns to;
 * then nothing is known of its frame. */
IX_HIDDEN ix_enter_function ix_enter_asking;

#define IX_UNLESS_MEASURING(forward)                                                               \
    if (IX_UNLIKELY(!ix_measuring)) {                                                              \
        ix_resolve_once();                                                                         \
        forward;                                                                                   \
    }

/* The same of a call that begins messages or completes requests. Where nothing is recorded, and a
 * progress thread sleeps, it is of no interest if it has `no_need`. */
#define IX_UNLESS_NEEDED(no_need, forward)                                                         \
    if (IX_UNLIKELY(ix_measuring != IX_RECORDING)) {                                               \
        ix_resolve_once();                                                                         \
        if (!ix_measuring || (ix_presence_sleeps() && (no_need))) {                                \
            forward;                                                                               \
        }                                                                                          \
    }

/* The same of a call that leaves nothing open. Where nothing is recorded, a progress thread alone
 * wants to know that the program is inside MPI. */
#define IX_UNLESS_RECORDING(forward, call, leave)                                                  \
    if (IX_UNLIKELY(ix_measuring != IX_RECORDING)) {                                               \
        ix_resolve_once();                                                                         \
        if (!ix_measuring || ix_presence_sleeps()) {                                               \
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

/* Equal blocks that move as much as blocks of `all` together, of which this rank's own is `own`:
 * the own one stays where it is, as it does in the collectives that were calibrated. */
static inline int64_t ix_as_equal_blocks(const ix_comm *c, int64_t all, int64_t own)
{
    if (c->inter || c->peers < 2)
        return all;
    int64_t moved = all - own;
    return moved + moved / (c->peers - 1);
}

#define IX_SUM_PEERS(counts, c)                                                                    \
    ix_as_equal_blocks(c, IX_SUM(counts, (c)->peers, 0),                                           \
                       (c)->inter ? 0 : (int64_t)(counts)[(c)->rank])

#define IX_SUM_PEERS_TYPES(counts, types, c)                                                       \
    ix_as_equal_blocks(c, IX_SUM_TYPES(counts, types, (c)->peers, 0),                              \
                       (c)->inter ? 0                                                              \
                                  : IX_SUM_TYPES((counts) + (c)->rank, (types) + (c)->rank, 1, 0))

/* What a probe found, where the user does not want to know. (On the stack, a wrapper could not
 * leave its frame to ix_leave_with.) */
extern IX_HIDDEN __thread MPI_Status ix_own_status;

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
