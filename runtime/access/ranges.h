/* Which bytes the buffers of an MPI call are. */
#ifndef IMBREX_ACCESS_RANGES_H
#define IMBREX_ACCESS_RANGES_H

#include "mpi/buffers.h"

typedef struct ixa_range {
    uintptr_t address;
    size_t bytes;
} ixa_range;

/* Ranges in the order of the message, neighbours joined. */
typedef struct ixa_ranges {
    ixa_range *range;
    size_t count, bytes; /* bytes: of all */
} ixa_ranges;

/* 0, or -1 without memory. Free range[] afterwards. Nothing moves: count 0. */
IX_HIDDEN int ixa_ranges_of(const ix_buffer *buffer, ixa_ranges *ranges);

/* The size of the basic type that the data begin with; 1 if nothing moves. */
IX_HIDDEN size_t ixa_leaf_bytes(const ix_buffer *buffer);
/* Whether both buffers would have the same ranges at the same address: equal for equal layouts. */
IX_HIDDEN uint64_t ixa_signature(const ix_buffer *buffer);

/* A copy that lives longer than the call: lists and datatypes are the copy's own. 0, or -1. */
IX_HIDDEN int ixa_keep(const ix_buffer *buffer, ix_buffer *kept);
IX_HIDDEN void ixa_drop(ix_buffer *kept);

#endif
