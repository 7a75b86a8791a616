/* The rows that the analysis leaves: evidence.npy, causes.npy, waits.npy, partners.npy,
 * timeline.npy and overview.npy, byte for byte (docs/reference/run-directory.md). A key, then sums;
 * of timeline.npy one record of the log, of overview.npy one stretch of time. */
#ifndef IMBREX_ANALYSIS_ROWS_H
#define IMBREX_ANALYSIS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/causes.h"

typedef struct ix_evidence_row {
    int32_t rank, site;
    uint16_t operation, section;
    int8_t size_class;
    uint8_t path;
    uint16_t reserved;
    int64_t transfers, matched, expected, contradicted, bytes;
    int64_t transfer_min_ns, transfer_max_ns;
    int64_t bounds[12]; /* call, matched, expected: overlap min, max, exposed min, max of each */
} ix_evidence_row;

typedef struct ix_causes_row {
    int32_t rank, site;
    uint16_t operation, section;
    uint32_t reserved;
    int64_t count, logged, call_ns;
    ix_interval part[IX_CAUSES], gainable, lost_overlap, undriven;
} ix_causes_row;

typedef struct ix_waits_row {
    int32_t rank, site;
    uint16_t operation, start_operation;
    int32_t start_site;
    int64_t count;
    ix_interval late, moving;
} ix_waits_row;

typedef struct ix_partners_row {
    int32_t rank, peer;
    int64_t messages, bytes;
    ix_interval late;
} ix_partners_row;

/* Times that are not known are -1. */
typedef struct ix_timeline_row {
    int32_t rank, site;
    uint16_t operation, section;
    uint8_t kind, path, thread, flags;
    int32_t peer;
    uint32_t comm;
    int32_t tag;
    uint32_t sequence, match, reserved;
    int64_t bytes, enter_ns, exit_ns, end_enter_ns, end_exit_ns, peer_enter_ns, peer_exit_ns;
    int64_t error_ns, x_lo_ns, x_hi_ns;
    ix_interval hidden, exposed, part[IX_CAUSES], lost_overlap;
} ix_timeline_row;

/* What a rank did in a stretch of time; of the causes what is certain. */
typedef struct ix_overview_row {
    int32_t rank, reserved;
    int64_t begin_ns, length_ns, logged_ns, call_ns, part_ns[IX_CAUSES];
} ix_overview_row;

/* A table that grows, found by the first `key_bytes` of its rows. */
typedef struct ix_rows {
    char *rows;
    size_t row_bytes, key_bytes, count, capacity;
    uint32_t *places; /* hash table of row numbers + 1 */
    size_t place_count;
} ix_rows;

enum {
    IX_EVIDENCE_ROWS,
    IX_CAUSES_ROWS,
    IX_WAITS_ROWS,
    IX_PARTNERS_ROWS,
    IX_TIMELINE_ROWS,
    IX_OVERVIEW_ROWS,
    IX_ROW_TABLES
};

void ix_rows_init(ix_rows *table, int which);
void ix_rows_free(ix_rows *table);

/* Any other table; keys are of whole words. */
static inline ix_rows ix_rows_of(size_t row_bytes, size_t key_bytes)
{
    return (ix_rows){.row_bytes = row_bytes, .key_bytes = key_bytes};
}

/* The row with the key of `like`, new and zero behind it if it was not there; NULL without memory.
 * Good until the next call. */
void *ix_rows_at(ix_rows *table, const void *like);

/* The same, but NULL where there is none. */
void *ix_rows_find(const ix_rows *table, const void *like);

/* A further row, all zero, of a table whose rows have no key; NULL without memory. */
void *ix_rows_append(ix_rows *table);

#endif
