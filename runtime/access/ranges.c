#include "access/ranges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi/comms.h"

enum { TYPES = 256 };

/* A datatype taken apart: the bytes of one item. */
typedef struct type {
    uint64_t construction;
    int64_t size;
    MPI_Aint extent;
    size_t leaf_bytes, segments;
    uint64_t signature;
    struct segment {
        ptrdiff_t at;
        size_t bytes;
    } * segment;
} type_t;

static type_t types[TYPES];
static int type_count;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* How a datatype was made, as one number: handles of freed types come again. `leaf_bytes`: of the
 * basic type that it begins with. */
static uint64_t construction(MPI_Datatype type, int *leaf_bytes)
{
    int integers, addresses, inner, combiner;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &inner, &combiner) != MPI_SUCCESS ||
        combiner == MPI_COMBINER_NAMED || inner == 0) {
        PMPI_Type_size(type, leaf_bytes);
        return mix(1, ix_handle(type));
    }
    uint64_t hash = mix(2, (uint64_t)combiner);
    int *i = malloc(((size_t)integers + 1) * sizeof *i);
    MPI_Aint *a = malloc(((size_t)addresses + 1) * sizeof *a);
    MPI_Datatype *t = malloc((size_t)inner * sizeof *t);
    if (i && a && t &&
        PMPI_Type_get_contents(type, integers, addresses, inner, i, a, t) == MPI_SUCCESS) {
        for (int k = 0; k < integers; k++)
            hash = mix(hash, (uint64_t)i[k]);
        for (int k = 0; k < addresses; k++)
            hash = mix(hash, (uint64_t)a[k]);
        for (int k = inner; k-- > 0;) {
            int n1, n2, n3, kind;
            hash = mix(hash, construction(t[k], leaf_bytes));
            PMPI_Type_get_envelope(t[k], &n1, &n2, &n3, &kind);
            if (kind != MPI_COMBINER_NAMED)
                PMPI_Type_free(&t[k]);
        }
    }
    free(i);
    free(a);
    free(t);
    return hash;
}

/* Whether a type with more bytes than its extent lies in it, as one does that sends bytes twice.
 * SimGrid 3.32 says of a subarray that it spans one element. What lies beyond the plane is empty
 * memory here, and comes out as 0. */
static int lies_within(MPI_Datatype type, int size, MPI_Aint lower, MPI_Aint span)
{
    const size_t margin_bytes = (size_t)1 << 30;
    size_t room = ((size_t)span + 4095) / 4096 * 4096;
    uint8_t *packed = malloc((size_t)size);
    uint8_t *plane = mmap(NULL, room + margin_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int within = packed && plane != MAP_FAILED, position = 0;
    if (within) {
        memset(plane, 1, (size_t)span);
        PMPI_Pack(plane - lower, 1, type, packed, size, &position, MPI_COMM_SELF);
        within = memchr(packed, 0, (size_t)size) == NULL;
    }
    if (plane != MAP_FAILED)
        munmap(plane, room + margin_bytes);
    free(packed);
    return within;
}

/* Offsets of the bytes of one item of the type. Planes of index bytes are packed, so that every
 * constructor that the library knows is followed exactly. NULL without memory, or where the library
 * errs about the extent. */
static ptrdiff_t *byte_offsets(MPI_Datatype type, int size)
{
    MPI_Aint lower, span;
    PMPI_Type_get_true_extent(type, &lower, &span);
    if (size > span && !lies_within(type, size, lower, span))
        return NULL;
    ptrdiff_t *offsets = calloc((size_t)size, sizeof *offsets);
    uint8_t *plane = malloc((size_t)span), *packed = malloc((size_t)size);
    if (offsets && plane && packed) {
        for (unsigned shift = 0; shift < 40 && (span - 1) >> shift; shift += 8) {
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

static void sign(type_t *t)
{
    t->signature = mix(mix(1, (uint64_t)t->size), (uint64_t)t->extent);
    for (size_t k = 0; k < t->segments; k++)
        t->signature = mix(mix(t->signature, (uint64_t)t->segment[k].at), t->segment[k].bytes);
}

static int take_apart(MPI_Datatype handle, type_t *t)
{
    MPI_Aint lower, true_lower, true_extent;
    int size = 0;
    PMPI_Type_get_extent(handle, &lower, &t->extent);
    PMPI_Type_get_true_extent(handle, &true_lower, &true_extent);
    PMPI_Type_size(handle, &size);
    t->size = size;
    t->segments = 0;
    t->segment = malloc(sizeof *t->segment);
    if (!t->segment)
        return -1;
    if (size <= 0) {
        sign(t);
        return 0;
    }
    if (size == true_extent) {
        t->segment[0] = (struct segment){true_lower, (size_t)size};
        t->segments = 1;
        sign(t);
        return 0;
    }
    ptrdiff_t *bytes = byte_offsets(handle, size);
    size_t room = 1;
    for (int i = 0; bytes && i < size; i++) {
        struct segment *last = t->segments ? &t->segment[t->segments - 1] : NULL;
        if (last && last->at + (ptrdiff_t)last->bytes == bytes[i]) {
            last->bytes++;
            continue;
        }
        if (t->segments == room) {
            void *more = realloc(t->segment, (room *= 2) * sizeof *t->segment);
            if (!more) {
                free(bytes);
                free(t->segment);
                return -1;
            }
            t->segment = more;
        }
        t->segment[t->segments++] = (struct segment){bytes[i], 1};
    }
    free(bytes);
    sign(t);
    return bytes ? 0 : -1;
}

static const type_t *type_of(MPI_Datatype handle)
{
    int leaf_bytes = 1;
    uint64_t key = construction(handle, &leaf_bytes);
    for (int i = 0; i < type_count; i++)
        if (types[i].construction == key)
            return &types[i];
    if (type_count == TYPES)
        while (type_count)
            free(types[--type_count].segment);
    type_t *t = &types[type_count];
    t->construction = key;
    t->leaf_bytes = (size_t)leaf_bytes;
    return take_apart(handle, t) ? NULL : &types[type_count++];
}

typedef struct block {
    int64_t count;
    ptrdiff_t at; /* in bytes */
    const type_t *type;
} block_t;

static int64_t number(const void *list, int width, int k)
{
    return width == 8 ? ((const int64_t *)list)[k] : ((const int32_t *)list)[k];
}

static MPI_Datatype type_in(const ix_buffer *b, int k)
{
    if (!b->by_type)
        return b->type;
#ifndef IMBREX_NO_FORTRAN
    if (b->fortran)
        return PMPI_Type_f2c(((const MPI_Fint *)b->types)[k]);
#endif
    return ((const MPI_Datatype *)b->types)[k];
}

static int blocks_of(const ix_buffer *b)
{
    return b->blocks ? b->blocks : 1;
}

/* Block k; `behind` is where a block without a place of its own begins. */
static int block_of(const ix_buffer *b, int k, ptrdiff_t behind, block_t *block)
{
    block->count = b->counts ? number(b->counts, b->count_bytes, k) : b->count;
    block->at = behind;
    block->type = NULL;
    if (block->count <= 0)
        return 0;
    block->type = type_of(type_in(b, k));
    if (!block->type)
        return -1;
    if (b->blocks && b->places) {
        int64_t place = number(b->places, b->place_bytes, k);
        block->at = (ptrdiff_t)(b->by_type ? place : place * (int64_t)block->type->extent);
    }
    return 0;
}

static int append(ixa_ranges *ranges, size_t *room, uintptr_t address, size_t bytes)
{
    ixa_range *last = ranges->count ? &ranges->range[ranges->count - 1] : NULL;
    ranges->bytes += bytes;
    if (last && last->address + last->bytes == address) {
        last->bytes += bytes;
        return 0;
    }
    if (ranges->count == *room) {
        *room = *room ? 2 * *room : 4;
        ixa_range *more = realloc(ranges->range, *room * sizeof *more);
        if (!more)
            return -1;
        ranges->range = more;
    }
    ranges->range[ranges->count++] = (ixa_range){address, bytes};
    return 0;
}

int ixa_ranges_of(const ix_buffer *b, ixa_ranges *ranges)
{
    size_t room = 0;
    ptrdiff_t behind = 0;
    *ranges = (ixa_ranges){NULL, 0, 0};
    for (int k = 0; k < blocks_of(b); k++) {
        block_t block;
        int failed = block_of(b, k, behind, &block);
        int64_t first = ix_is_missing(b->missing, k) ? block.count : 0;
        for (int64_t item = first; !failed && block.type && item < block.count; item++) {
            uintptr_t at = (uintptr_t)b->address + (uintptr_t)block.at +
                           (uintptr_t)(item * (int64_t)block.type->extent);
            /* Items without gaps are one range, however many they are. */
            if (block.type->segments == 1 && block.type->size == block.type->extent) {
                failed = append(ranges, &room, at + (uintptr_t)block.type->segment[0].at,
                                (size_t)(block.count * block.type->size));
                break;
            }
            for (size_t s = 0; !failed && s < block.type->segments; s++)
                failed = append(ranges, &room, at + (uintptr_t)block.type->segment[s].at,
                                block.type->segment[s].bytes);
        }
        if (failed) {
            free(ranges->range);
            *ranges = (ixa_ranges){NULL, 0, 0};
            return -1;
        }
        if (block.type)
            behind = block.at + (ptrdiff_t)(block.count * (int64_t)block.type->extent);
    }
    return 0;
}

size_t ixa_leaf_bytes(const ix_buffer *b)
{
    for (int k = 0; k < blocks_of(b); k++) {
        block_t block;
        if (block_of(b, k, 0, &block) == 0 && block.type)
            return block.type->leaf_bytes;
    }
    return 1;
}

uint64_t ixa_signature(const ix_buffer *b)
{
    uint64_t hash = 1;
    ptrdiff_t behind = 0;
    for (int k = 0; k < blocks_of(b); k++) {
        block_t block;
        if (block_of(b, k, behind, &block) || !block.type)
            continue;
        if (!ix_is_missing(b->missing, k))
            hash = mix(mix(mix(hash, (uint64_t)block.count), (uint64_t)block.at),
                       block.type->signature);
        behind = block.at + (ptrdiff_t)(block.count * (int64_t)block.type->extent);
    }
    return hash;
}

static void *copy_list(const void *list, size_t bytes)
{
    void *copy = list && bytes ? malloc(bytes) : NULL;
    return copy ? memcpy(copy, list, bytes) : NULL;
}

int ixa_keep(const ix_buffer *buffer, ix_buffer *kept)
{
    size_t n = (size_t)buffer->blocks;
    *kept = *buffer;
    kept->counts = copy_list(buffer->counts, n * buffer->count_bytes);
    kept->places = copy_list(buffer->places, n * buffer->place_bytes);
    kept->types = NULL;
    kept->type = MPI_DATATYPE_NULL;
    MPI_Datatype *own = buffer->by_type && n ? malloc(n * sizeof *own) : NULL;
    if (n && ((buffer->counts && !kept->counts) || (buffer->places && !kept->places) ||
              (buffer->by_type && !own))) {
        free(own);
        ixa_drop(kept);
        return -1;
    }
    for (size_t k = 0; own && k < n; k++) {
        own[k] = MPI_DATATYPE_NULL;
        if (number(buffer->counts, buffer->count_bytes, (int)k) > 0)
            PMPI_Type_dup(type_in(buffer, (int)k), &own[k]);
    }
    kept->types = own;
    kept->fortran = 0;
    if (!own && buffer->type != MPI_DATATYPE_NULL)
        PMPI_Type_dup(buffer->type, &kept->type);
    return 0;
}

void ixa_drop(ix_buffer *kept)
{
    MPI_Datatype *own = (MPI_Datatype *)kept->types;
    for (int k = 0; own && k < kept->blocks; k++)
        if (own[k] != MPI_DATATYPE_NULL)
            PMPI_Type_free(&own[k]);
    if (kept->type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&kept->type);
    free((void *)kept->counts);
    free((void *)kept->places);
    free(own);
}
