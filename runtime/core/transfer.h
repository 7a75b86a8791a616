/* A transfer as a caller describes it, and packed into a word. */
#ifndef IMBREX_CORE_TRANSFER_H
#define IMBREX_CORE_TRANSFER_H

#include <stdint.h>

/* Where data may move outside the time from the begin to the end that the calls show. */
enum ix_slack {
    IX_SLACK_NONE = 0,    /* both ends are known */
    IX_SLACK_TAIL = 1,    /* sends: the tail of (path, size) from the table */
    IX_SLACK_HEAD = 2,    /* receives: the head of (path, size) from the table */
    IX_SLACK_UNKNOWN = 3, /* X_hi: collectives, Bsend, Rsend, what was never measured */
};

/* Besides enum ix_path: MPI_ANY_SOURCE before the source is known. */
#define IX_PATH_ANY 4

enum ix_transfer_flags {
    IX_UP_TO = 1,      /* `bytes` is the room of a receive: the size comes with the end */
    IX_COLLECTIVE = 2, /* X from the collective (operation, ranks, role, path) */
    IX_CALL_ONLY = 4,  /* no other source sees it: not left to one (one-sided, partitions) */
};

typedef struct ix_transfer {
    int64_t bytes; /* user data; 0 or less: nothing moves, nothing is recorded */
    uint8_t path;  /* enum ix_path, or IX_PATH_ANY; IX_PATH_NONE (MPI_PROC_NULL): nothing moves */
    uint8_t slack; /* enum ix_slack */
    uint8_t flags; /* enum ix_transfer_flags */
    uint8_t role;  /* IX_COLLECTIVE: enum ix_role */
    int32_t ranks; /* IX_COLLECTIVE: size of the communicator */
    uint32_t operation; /* IX_COLLECTIVE: operation to look X up by; 0: that of the call. (So that
                         * MPI_Iallreduce can use the calibration of MPI_Allreduce.) */
} ix_transfer;

/* A transfer but for its bytes: in a register it costs less to hand over and to compare than in
 * memory. Bits: path 4, slack 2, flags 4, role 2, 4 of the engine's own (the source that posted
 * it), operation 16 (plus 1; 0: that of the call), ranks 32. */
typedef uint64_t ix_packed;

enum { IX_PACKED_SOURCE = 12, IX_PACKED_POSTED = 14, IX_PACKED_OPERATION = 16 };

static inline ix_packed ix_pack(const ix_transfer *x)
{
    uint32_t operation = x->operation ? (x->operation + 1) & 0xffff : 0;
    return x->path | (ix_packed)x->slack << 4 | (ix_packed)x->flags << 6 |
           (ix_packed)x->role << 10 | (ix_packed)operation << IX_PACKED_OPERATION |
           (ix_packed)(uint32_t)x->ranks << 32;
}

static inline uint32_t ix_packed_path(ix_packed packed)
{
    return packed & 0xf;
}

/* With another operation to look X up by where the transfer names none. */
static inline ix_packed ix_pack_for(const ix_transfer *x, uint32_t operation)
{
    ix_packed packed = ix_pack(x);
    return x->operation ? packed : packed | (ix_packed)(operation + 1) << IX_PACKED_OPERATION;
}

#endif
