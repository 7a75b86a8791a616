/* The buffers of an MPI call: which bytes they are. */
#ifndef IMBREX_BUFFERS_H
#define IMBREX_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "thread.h"
#include "types.h"

/* The peer of a collective without a root; no library has such a rank. */
#define IXA_NO_PEER (-1000)

/* What MPI reads (a send) or writes (a receive) in one call: `count` items of `type`, or `blocks`
 * of them by the lists of a vector collective. */
typedef struct ixa_buffer {
    const void *address;
    MPI_Datatype type;
    int64_t count;
    int32_t blocks;                   /* 0: no lists; without counts, each of `count` items */
    uint8_t count_bytes, place_bytes; /* width of a number in the lists */
    uint8_t by_type;                  /* lists of types, and places in bytes */
    uint8_t fortran;                  /* the types are Fortran's handles */
    uint8_t is_receive;
    uint8_t collective;
    uint8_t one_sided;                   /* nobody receives or sends at the other end */
    uint8_t in_place;                    /* a send whose bytes the same call receives into */
    const void *counts, *places, *types; /* places NULL: one block behind the other */
    uint64_t nobody;                     /* bits of the blocks that nobody sends or gets */
    int peer, tag;                       /* of a collective: the root or IXA_NO_PEER, and 0 */
    MPI_Comm comm;
} ixa_buffer;

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
IX_HIDDEN int ixa_ranges_of(const ixa_buffer *buffer, ixa_ranges *ranges);

/* The size of the basic type that the data begin with; 1 if nothing moves. */
IX_HIDDEN size_t ixa_leaf_bytes(const ixa_buffer *buffer);
/* Whether both buffers would have the same ranges at the same address: equal for equal layouts. */
IX_HIDDEN uint64_t ixa_signature(const ixa_buffer *buffer);

/* A copy that lives longer than the call: lists and datatypes are the copy's own. 0, or -1. */
IX_HIDDEN int ixa_keep(const ixa_buffer *buffer, ixa_buffer *kept);
IX_HIDDEN void ixa_drop(ixa_buffer *kept);

#endif
