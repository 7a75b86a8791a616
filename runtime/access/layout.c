#include "layout.h"

#include <stdint.h>
#include <stdlib.h>

/* The size of the basic type that a datatype begins with. */
static int leaf_size(MPI_Datatype type)
{
    int integers, addresses, types, combiner, size = 1;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return 1;
    if (combiner == MPI_COMBINER_NAMED || types == 0) {
        PMPI_Type_size(type, &size);
        return size;
    }
    int *i = malloc(((size_t)integers + 1) * sizeof *i);
    MPI_Aint *a = malloc(((size_t)addresses + 1) * sizeof *a);
    MPI_Datatype *t = malloc((size_t)types * sizeof *t);
    if (i && a && t &&
        PMPI_Type_get_contents(type, integers, addresses, types, i, a, t) == MPI_SUCCESS) {
        size = leaf_size(t[0]);
        for (int k = 0; k < types; k++) {
            int n1, n2, n3, kind;
            PMPI_Type_get_envelope(t[k], &n1, &n2, &n3, &kind);
            if (kind != MPI_COMBINER_NAMED)
                PMPI_Type_free(&t[k]);
        }
    }
    free(i);
    free(a);
    free(t);
    return size;
}

/* Offsets of the bytes of one item of the type. Planes of index bytes are packed, so that every
 * constructor that the library knows is followed exactly. NULL without memory. */
static ptrdiff_t *byte_offsets(MPI_Datatype type, int size)
{
    MPI_Aint lower, span;
    PMPI_Type_get_true_extent(type, &lower, &span);
    ptrdiff_t *offsets = calloc((size_t)size, sizeof *offsets);
    uint8_t *plane = malloc((size_t)span), *packed = malloc((size_t)size);
    if (offsets && plane && packed) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            for (MPI_Aint i = 0; i < span; i++)
                plane[i] = (uint8_t)((uint64_t)i >> shift);
            int position = 0;
            PMPI_Pack(plane - lower, 1, type, packed, size, &position, MPI_COMM_SELF);
            for (int i = 0; i < size; i++)
                offsets[i] |= (ptrdiff_t)packed[i] << shift;
        }
        for (int i = 0; i < size; i++)
            offsets[i] += lower;
    } else {
        free(offsets);
        offsets = NULL;
    }
    free(plane);
    free(packed);
    return offsets;
}

/* Whether the bytes can be taken `unit` at a time. */
static int made_of(const ptrdiff_t *bytes, int size, int unit)
{
    if (unit <= 0 || size % unit)
        return 0;
    for (int i = 0; i < size; i++)
        if (bytes[i] != bytes[i - i % unit] + i % unit)
            return 0;
    return 1;
}

int ixa_layout(int count, MPI_Datatype type, ixa_layout_t *layout)
{
    MPI_Aint lower, extent;
    int size;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_size(type, &size);
    if (size <= 0 || count <= 0)
        return -1;
    ptrdiff_t *bytes = byte_offsets(type, size);
    if (!bytes)
        return -1;
    int unit = leaf_size(type);
    /* Items of a gapless type, bytes above all, follow each other: they may make up elements. */
    ptrdiff_t total = (ptrdiff_t)size * count;
    int gapless = made_of(bytes, size, size) && size == extent;
    if (unit < 4)
        unit = total % 8 == 0 && (gapless || made_of(bytes, size, 8)) ? 8 : 4;
    if (gapless ? total % unit : !made_of(bytes, size, unit))
        unit = gapless && total % 4 == 0 ? 4 : 1;
    layout->element_bytes = (size_t)unit;
    layout->elements = (size_t)(total / unit);
    layout->offsets = malloc(layout->elements * sizeof *layout->offsets);
    for (size_t k = 0; layout->offsets && k < layout->elements; k++) {
        ptrdiff_t byte = (ptrdiff_t)k * unit;
        layout->offsets[k] = (byte / size) * extent + bytes[byte % size];
    }
    free(bytes);
    return layout->offsets ? 0 : -1;
}
