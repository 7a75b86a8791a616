/* The transfer-time table as it lies in memory: filled by the parser, read by the lookup. */
#ifndef IMBREX_CORE_TIMES_TABLE_H
#define IMBREX_CORE_TIMES_TABLE_H

#include "core/times.h"

enum {
    IX_MAX_POINTS = 6144,
    IX_MAX_CURVES = 256,
    IX_TIMES_HASH = 512,
    IX_MAX_CLASSES = 64,
    IX_MAX_HANDSHAKES = 16
};

typedef struct ix_point {
    int64_t size, x_lo, x_hi, tail, head;
    int64_t most; /* largest x_hi up to here */
    int64_t
        least; /* of a path: the shortest one-way time seen of this size or more; 0: not known */
} ix_point;

typedef struct ix_curve {
    int32_t operation; /* -1: a path */
    int32_t ranks;
    uint8_t path, role;
    uint32_t first, count;
    int16_t below[64]; /* last ix_point of size <= 2^k, or -1 */
} ix_curve;

typedef struct ix_class_point {
    int64_t size;
    ix_class of_size;
} ix_class_point;

typedef struct ix_handshake_point {
    int64_t size;
    ix_handshake of_size;
} ix_handshake_point;

typedef struct ix_times_table {
    ix_point points[IX_MAX_POINTS];
    ix_curve curves[IX_MAX_CURVES];
    uint32_t point_count, curve_count;
    int16_t path_curve[4];                     /* + 1; 0: none */
    int16_t hash[IX_TIMES_HASH];               /* of collectives, + 1 */
    ix_class_point classes[4][IX_MAX_CLASSES]; /* by path, ascending by size */
    uint8_t class_count[4];
    ix_handshake_point handshakes[4][IX_MAX_HANDSHAKES]; /* likewise */
    uint8_t handshake_count[4];
    int64_t progress_ns; /* how often progress has to be driven; 0: unknown */
} ix_times_table;

extern __attribute__((visibility("hidden"))) ix_times_table ix_times;

__attribute__((visibility("hidden"))) uint32_t ix_collective_hash(uint32_t operation, int32_t ranks,
                                                                  uint8_t role, uint8_t path);

/* The curve of exactly this collective and role; NULL where there is none. */
__attribute__((visibility("hidden"))) const ix_curve *
ix_find_collective(uint32_t operation, int32_t ranks, uint8_t role, uint8_t path);

#endif
