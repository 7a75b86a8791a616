/* Bytes of user data behind a datatype. */
#ifndef IMBREX_MPI_TYPES_H
#define IMBREX_MPI_TYPES_H

#include "core/engine.h"
#include "generated/ix_mpi.h"

/* A handle as a number, whatever the library makes of it (an int or an address). */
#define ix_handle(handle) ((uint64_t)(uintptr_t)(handle))
/* And back. */
#define ix_request_of(number) ((MPI_Request)(uintptr_t)(number))

#define IX_TYPE_SLOTS 512

typedef struct ix_type_entry {
    uint64_t handle;
    int64_t bytes; /* 0: empty slot */
} ix_type_entry;

extern IX_HIDDEN ix_type_entry ix_types[IX_TYPE_SLOTS];

/* Learn the sizes of the predefined types: they never change, so that no lock is needed. */
IX_HIDDEN void ix_types_remember(void);

/* PMPI_Type_size; 0 for what is no type. */
IX_HIDDEN IX_COLD int64_t ix_type_bytes_slow(MPI_Datatype type);

/* The first of the two slots that a type may have. */
static inline uint32_t ix_type_slot(uint64_t handle)
{
    return (uint32_t)((handle * 0x9e3779b97f4a7c15u) >> 56) * 2;
}

static inline IX_ALWAYS int64_t ix_type_bytes(MPI_Datatype type)
{
    const ix_type_entry *e = &ix_types[ix_type_slot(ix_handle(type))];
    if (IX_LIKELY(e->handle == ix_handle(type) && e->bytes))
        return e->bytes;
    e++;
    return e->handle == ix_handle(type) && e->bytes ? e->bytes : ix_type_bytes_slow(type);
}

/* The same without asking the library; 0: not known. */
static inline IX_ALWAYS int64_t ix_known_type_bytes(MPI_Datatype type)
{
    const ix_type_entry *e = &ix_types[ix_type_slot(ix_handle(type))];
    return e[0].handle == ix_handle(type)   ? e[0].bytes
           : e[1].handle == ix_handle(type) ? e[1].bytes
                                            : 0;
}

/* Bytes that a completed receive has brought, from its status. */
static inline int64_t ix_status_bytes(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return (int64_t)status->_ucount;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
    return (int64_t)(((uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32) |
                     (uint32_t)status->count_lo);
#else
    int count = 0;
    if (PMPI_Get_count(status, MPI_BYTE, &count) != MPI_SUCCESS || count < 0)
        return 0;
    return count;
#endif
}

#endif
