/* What the generated Fortran wrappers stand on: the library's own symbols, the special addresses of
 * Fortran, and handles as C has them.
 *
 * The default INTEGER and LOGICAL have the size of int (asserted in fortran.c), and a status of
 * Fortran has the layout of MPI_Status: both hold for Open MPI, MPICH and its kin as they are built
 * for use; a library built for 8-byte default integers gets no Fortran wrappers. */
#ifndef IMBREX_MPI_FORTRAN_FORTRAN_H
#define IMBREX_MPI_FORTRAN_FORTRAN_H

#include <stddef.h>
#include <stdlib.h>

#include "mpi/wrap.h"

typedef void ix_f_any(void);

/* The user's return address; what starts and ends the job has no use for it. */
#define IX_F_SITE const void *ix_site __attribute__((unused))

/* Open MPI's mpi_f08 passes buffers by address. */
#ifndef OPEN_MPI
#define IX_F_DESCRIPTORS 1
#endif

/* The first of `names` (NULL ends) behind this object, remembered in *found. Ends the program with
 * one line if the library has none of them: the program could not have been linked without. */
IX_HIDDEN ix_f_any *ix_f_find(ix_f_any **found, const char *const *names);

#define IX_F_NEXT(found, ...)                                                                      \
    (IX_LIKELY(__atomic_load_n(&(found), __ATOMIC_ACQUIRE) != NULL)                                \
         ? (found)                                                                                 \
         : ix_f_find(&(found), (const char *const[]){__VA_ARGS__, NULL}))

/* Another spelling of the same entry point. */
#define IX_F_ALSO(name, first, parameters)                                                         \
    IX_EXPORT void name parameters __attribute__((alias(#first)));

/* The inner C call records, with the Fortran caller's address. */
#define IX_F_DELEGATE(call)                                                                        \
    do {                                                                                           \
        ix_forwarding ix_before = ix_forward(__builtin_return_address(0));                         \
        call;                                                                                      \
        ix_forwarded(ix_before);                                                                   \
    } while (0)

#define IX_F_RETURN(rc)                                                                            \
    do {                                                                                           \
        if (ix_f_ierror) /* absent: optional in mpi_f08 */                                         \
            *ix_f_ierror = (rc);                                                                   \
        return;                                                                                    \
    } while (0)

/* What mpi_init_ (or mpi_init_f08_) calls in place of the library's own, `next`, where it is to ask
 * for more than MPI_THREAD_SINGLE: a function of the same form. */
IX_HIDDEN ix_f_any *ix_f_init_of(ix_f_any *next);

/* Addresses that mean one thing to Fortran. Some libraries export objects that lie there, others
 * variables that point there and that MPI_Init sets. NULL ends both lists. */
typedef struct ix_f_marker {
    const void *objects[8];
    const void *const *variables[3];
} ix_f_marker;

extern IX_HIDDEN ix_f_marker ix_f_in_place, ix_f_status_ignore, ix_f_statuses_ignore;

static inline int ix_f_is(const ix_f_marker *marker, const void *address)
{
    for (const void *const *o = marker->objects; *o; o++)
        if (*o == address)
            return 1;
    for (const void *const *const *v = marker->variables; *v; v++)
        if (**v == address)
            return 1;
    return 0;
}

static inline const void *ix_f_buffer(const void *address)
{
    return ix_f_is(&ix_f_in_place, address) ? MPI_IN_PLACE : address;
}

#define IX_F_STATUS(address)                                                                       \
    (ix_f_is(&ix_f_status_ignore, address) ? MPI_STATUS_IGNORE : (MPI_Status *)(address))
#define IX_F_STATUSES(address)                                                                     \
    (ix_f_is(&ix_f_statuses_ignore, address) ? MPI_STATUSES_IGNORE : (MPI_Status *)(address))

#if defined(MPICH_VERSION) || defined(I_MPI_VERSION)

/* Handles are the same integers in C and Fortran. */
#define IX_F2C(type, given) (*(const MPI_##type *)(given))
#define IX_F_HANDLE_IN(type, name, given) MPI_##type *name = (given)
#define IX_F_HANDLE_OUT(type, name, given) MPI_##type *name = (given)
#define IX_F_REFRESH(type, name, given) ((void)0)
#define IX_F_REQUESTS(name, given, count) MPI_Request *name = (given)
#define IX_F_REFRESH_REQUESTS(name, given, count) ((void)0)

#else

#define ix_f2c_Comm PMPI_Comm_f2c
#define ix_f2c_Datatype PMPI_Type_f2c
#define ix_f2c_Group PMPI_Group_f2c
#define ix_f2c_Message PMPI_Message_f2c
#define ix_f2c_Op PMPI_Op_f2c
#define ix_f2c_Request PMPI_Request_f2c
#define ix_f2c_Win PMPI_Win_f2c

#define IX_F2C(type, given) ix_f2c_##type(*(const MPI_Fint *)(given))
#define IX_F_HANDLE_IN(type, name, given)                                                          \
    MPI_##type ix_c_##name = IX_F2C(type, given), *name = &ix_c_##name
#define IX_F_HANDLE_OUT(type, name, given) MPI_##type ix_c_##name, *name = &ix_c_##name
#define IX_F_REFRESH(type, name, given) (ix_c_##name = IX_F2C(type, given))
#define IX_F_REQUESTS(name, given, count)                                                          \
    IX_F_ROOM(MPI_Request, name, count);                                                           \
    ix_f_convert(name, given, count)
#define IX_F_REFRESH_REQUESTS(name, given, count) ix_f_convert(name, given, count)

static inline void ix_f_convert(MPI_Request *requests, const MPI_Fint *given, int count)
{
    for (int i = 0; requests && i < count; i++)
        requests[i] = PMPI_Request_f2c(given[i]);
}

#endif

#define IX_F_SMALL 256

static inline void ix_f_release(void *pointer)
{
    free(*(void **)pointer);
}

/* An array of `count` elements: on the stack, or from the heap if that would be too much; NULL if
 * there is no memory. */
#define IX_F_ROOM(type, name, count)                                                               \
    type ix_small_##name[IX_F_SMALL];                                                              \
    __attribute__((cleanup(ix_f_release))) type *ix_big_##name =                                   \
        IX_LIKELY((count) <= IX_F_SMALL) ? NULL : malloc((size_t)(count) * sizeof(type));          \
    type *name = IX_LIKELY((count) <= IX_F_SMALL) ? ix_small_##name : ix_big_##name

/* Positions in an array of requests count from `first`. */
static inline int ix_f_position(int given, int first)
{
    return given == MPI_UNDEFINED ? MPI_UNDEFINED : given - first;
}

static inline void ix_f_positions(int *positions, const MPI_Fint *given, int count, int first)
{
    for (int i = 0; i < count; i++)
        positions[i] = (int)given[i] - first;
}

/* That is 1 in Fortran, but 0 in the mpi_f08 of MPICH 4.0: found out by asking the library once. */
IX_HIDDEN int ix_f_first_f08(void);

/* Bytes of `n` blocks, each with its own count and datatype. */
static inline int64_t ix_f_sum_types(const int *counts, const MPI_Fint *types, int n,
                                     uint64_t missing)
{
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        if (counts[i] && !ix_is_missing(missing, i))
            bytes += counts[i] * ix_type_bytes(IX_F2C(Datatype, &types[i]));
    return bytes;
}
/* The number first: asking for it may tell who is missing. */
#define IX_F_SUM_TYPES(counts, types, n, missing)                                                  \
    __extension__({                                                                                \
        int ix_n = (n);                                                                            \
        ix_f_sum_types(counts, types, ix_n, missing);                                              \
    })
#define IX_F_SUM_PEERS_TYPES(counts, types, c)                                                     \
    ix_as_equal_blocks(                                                                            \
        c, ix_f_sum_types(counts, types, (c)->peers, 0),                                           \
        (c)->inter ? 0 : ix_f_sum_types((counts) + (c)->rank, (types) + (c)->rank, 1, 0))

#endif
