/* Where the elements of a message lie. */
#ifndef IMBREX_ACCESS_LAYOUT_H
#define IMBREX_ACCESS_LAYOUT_H

#include <mpi.h>
#include <stddef.h>

/* Offsets in bytes from the buffer's address of the `elements` elements of `element_bytes` each,
 * in the order of the message. */
typedef struct {
    size_t elements, element_bytes;
    ptrdiff_t *offsets;
} ixa_layout_t;

/* 0, or -1 for an empty message and without memory. The element is the basic type that the data
 * are made of; bytes and characters are taken 8 or 4 at a time where they lie so. */
int ixa_layout(int count, MPI_Datatype type, ixa_layout_t *layout);

#endif
