/* The memory-mapped profile of one rank: what survives a crash, and what MPI_Finalize merges.
 * Format: docs/reference/run-directory.md. Plain data only; offsets are from the start of the file.
 */
#ifndef IMBREX_CORE_PART_H
#define IMBREX_CORE_PART_H

#include <stdint.h>

#define IX_PART_MAGIC "IMBREXP1"
#define IX_PART_VERSION 1u

enum ix_ended { IX_FINALIZED = 0, IX_ABORTED = 1, IX_EXITED = 2, IX_DIED = 3, IX_MISSING = 4 };
enum ix_path { IX_PATH_NONE = 0, IX_PATH_SELF = 1, IX_PATH_INTRA = 2, IX_PATH_INTER = 3 };
enum ix_source { IX_SOURCE_CALL = 0, IX_SOURCE_POLL = 1, IX_SOURCE_CALLBACK = 2 };

/* One row of measures.npy, byte for byte. 16 bytes of key, 16 quantities. */
typedef struct ix_row {
    int32_t rank;
    int32_t site;
    uint16_t operation;
    uint16_t section;
    int8_t size_class;
    uint8_t path;
    uint8_t source;
    uint8_t reserved;
    int64_t count;
    int64_t transfers;
    int64_t bytes;
    int64_t transfer_min_ns, transfer_max_ns;
    int64_t overlap_min_ns, overlap_max_ns;
    int64_t exposed_min_ns, exposed_max_ns;
    int64_t call_ns;
    int64_t wait_min_ns, wait_max_ns;
    int64_t undetermined;
    int64_t contradicted;
    int64_t uncalibrated;
    int64_t unknown_end;
} ix_row;

/* One row of ranks.npy, byte for byte. */
typedef struct ix_rank_row {
    int32_t rank;
    uint8_t ended;
    uint8_t threads;
    uint16_t reserved;
    char host[64];
    int64_t wall_ns;
    int64_t compute_ns;
    int64_t call_ns;
    int64_t calls;
    int64_t overhead_ns;
    int64_t memory_bytes;
    int64_t dropped;
    int64_t overflow;
    int64_t section_errors;
} ix_rank_row;

typedef struct ix_part_site {
    uint64_t offset; /* return address minus the image's load address */
    uint32_t
        image; /* index of ix_part_image; 0xffffffff: unknown, offset is the absolute address */
    uint32_t reserved;
    uint64_t address; /* where it was last */
} ix_part_site;

typedef struct ix_part_image {
    char path[4096 - 40];
    char build_id[40]; /* hex, not terminated when full; empty: none */
    /* Of an address in [start, end) the offset is the address less the base. All 0: not loaded by
     * the linker. */
    uint64_t base, start, end;
} ix_part_image;

#define IX_CALL_PATHS 1024
#define IX_CALLERS 24
#define IX_NO_IMAGE UINT32_C(0xff)

/* Through which callers a site was reached, and in how many looks. */
typedef struct ix_part_call_path {
    int32_t site;
    uint16_t count;  /* of callers; 0: not known, or more different ones than are kept */
    uint16_t is_cut; /* further callers differ more than is kept */
    int64_t samples;
    uint64_t callers[IX_CALLERS]; /* return addresses, the innermost first: index of ix_part_image
                                   * in the upper 8 bits, the rest as in ix_part_site;
                                   * IX_NO_IMAGE: unknown */
} ix_part_call_path;

typedef struct ix_part_name {
    char name[128]; /* a section's nested name */
} ix_part_name;

/* A table in the file: `used` entries of `entry_bytes` each, room for `capacity`. */
typedef struct ix_part_table {
    uint64_t offset;
    uint64_t entry_bytes;
    uint64_t capacity;
    uint64_t used;
} ix_part_table;

/* One thread's rows: no two threads write the same memory. */
typedef struct ix_part_thread {
    ix_part_table rows; /* ix_row with local site numbers; count == 0 and transfers == 0: unused */
    int64_t compute_ns;
    int64_t call_ns;
    int64_t calls;
    int64_t last_exit_ns; /* its last CALL_EXIT, ns after MPI_Init: of a rank that died, wall_ns is
                           * the largest of these */
} ix_part_thread;

/* Where a thread stands: the first fields of an ix_thread, which lies in the file, so that they
 * cost its calls nothing and are there however the process ends. */
typedef struct ix_part_standing {
    int64_t last_ns; /* its last CALL_ENTER or CALL_EXIT, on the clock of started_ns */
    int64_t compute_ns, call_ns;
    uint64_t address; /* the call site of the call in progress, or of the last one; 0: none yet */
    uint64_t key;     /* of that: its operation, lowest 16 bits, and section, the next 16 */
    uint32_t state;   /* its lowest 16 bits are 0 between calls */
} ix_part_standing;

/* The call with which a process ends MPI. */
enum ix_ending { IX_ENDING_NONE = 0, IX_ENDING_FINALIZE = 1, IX_ENDING_ABORT = 2 };

typedef struct ix_part_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint64_t file_bytes;
    int32_t ranks;         /* size of MPI_COMM_WORLD */
    uint32_t call_cost_ps; /* of one recorded call, ps: a rank that dies cannot add it up */
    char library[256];     /* MPI_Get_library_version, first line */
    ix_rank_row rank;      /* rank.ended is IX_DIED until the process says otherwise */
    ix_part_table sites;
    ix_part_table images;
    ix_part_table sections;
    ix_part_table operations; /* char[48] names */
    ix_part_table threads;    /* ix_part_thread */
    uint64_t log_offset;      /* of the call log (call_log.h) in this file; 0: there is none */
    uint64_t log_bytes;       /* that it may become */
    ix_part_table call_paths; /* ix_part_call_path */
    ix_part_table standing;   /* ix_part_standing of each thread */
    int64_t started_unix_ns;  /* when measuring began, by the system's clock */
    int64_t started_ns;       /* and by the one of standing */
    uint64_t ending_address;  /* call site of the call named by `ending` */
    uint32_t ending;          /* enum ix_ending: the first thread is in it since its last_ns */
    uint32_t clock;           /* 1 + the number of its clock among those of the job; 0: not known.
                               * Parts with the same number have the same clock. */
    uint64_t awaited_offset;  /* in each entry of `standing`: of its ix_awaited (core/thread.h) */
} ix_part_header;

#endif
