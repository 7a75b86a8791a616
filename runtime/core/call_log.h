/* The call log: one record of fixed size for each call that communicates or completes, in the
 * mapped part file behind the profile. Its format, and how to read it. Writing: call_logging.h.
 *
 * The log is a header, chunks of records, and a table of communicators. A chunk is a page: a line
 * that says whose it is, and 63 records of one thread in one window of time. The run is cut into
 * windows of 2^window_shift ns from origin_ns on, the same on all ranks. When the budget is full
 * the level rises: only windows whose number is a multiple of 2^level count from then on, and the
 * chunks of the others are used again. So a rank at level 3 covers what one at level 5 covers, and
 * ranks are compared at the highest level of all.
 *
 * A record is known by its id: the order of its chunk, which no other chunk ever has again, times
 * 64, plus its place. An id whose record is gone is found to be so, because no chunk has the order.
 *
 * What happens between two records of a thread: exit to enter passes, of which the difference of
 * call_before_ns, less the call time of the first record, was spent in calls that are not logged
 * (Iprobe, Test without success, Comm_rank, ...), and the rest was computation. Those of them that
 * waited for what a call found in the end are told: IX_LOG_POLLS. */
#ifndef IMBREX_CALL_LOG_H
#define IMBREX_CALL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "core/part.h"

#define IX_LOG_MAGIC "IMBREXL1"
#define IX_LOG_VERSION 1u
#define IX_LOG_LEAST (UINT64_C(256) << 10) /* bytes of the smallest log */
#define IX_LOG_CHUNK_BYTES 4096u
#define IX_LOG_CHUNK_RECORDS 64u /* places of a chunk; the first holds its head */

/* What a record is about. The mode of a send and the role of a collective stand here, because the
 * operation of a started persistent request is MPI_Start. */
enum ix_log_kind {
    IX_LOG_NONE = 0, /* not counted: a call during which measuring paused; readers skip it */
    IX_LOG_SEND = 1, /* standard mode; Sendrecv has one of these and one IX_LOG_RECV */
    IX_LOG_SYNC_SEND = 2,
    IX_LOG_BUFFERED_SEND = 3,
    IX_LOG_READY_SEND = 4,
    IX_LOG_RECV = 5,
    IX_LOG_PROBE = 6,      /* MPI_Probe, MPI_Mprobe and the like that found a message; peer, tag,
                            * bytes are those of the message */
    IX_LOG_COMPLETION = 7, /* completes requests, moves nothing of its own */
    IX_LOG_ALL = 8,        /* collective in which everybody needs everybody, also creations of
                            * communicators and windows */
    IX_LOG_FROM_ROOT = 9,  /* broadcast, scatter: peer is the root */
    IX_LOG_TO_ROOT = 10,   /* reduce, gather: peer is the root */
    IX_LOG_SCAN = 11,      /* a rank needs those before it */
    IX_LOG_NEIGHBOURS = 12,
    IX_LOG_PUT = 13,   /* also accumulate. comm is the number of the window, peer the target. The
                        * end is the next IX_LOG_EPOCH of its window that closes its target,
                        * but for Rput and Rget, which end as requests do */
    IX_LOG_GET = 14,   /* also what puts and gets */
    IX_LOG_EPOCH = 15, /* Win_fence, post, start, complete, wait, lock, unlock, flush: the
                        * operation tells. peer: the target, or IX_LOG_NOBODY for all. sequence:
                        * that of a fence, a collective of its window; 0 of all others. tag of a
                        * lock: IX_LOG_EXCLUSIVE or IX_LOG_SHARED */
    IX_LOG_PARTS_SEND = 16, /* start of a partitioned send or receive: matched among themselves */
    IX_LOG_PARTS_RECV = 17,
    IX_LOG_PART_READY = 18, /* MPI_Pready: peer, tag, comm and sequence as the start of its request,
                             * bytes of one partition, which one in path (IX_LOG_PARTITION) */
    IX_LOG_BLOCKS = 19,     /* sizes of the blocks of a collective: IX_LOG_BLOCK_SIZES */
    /* One for each member of the group of an epoch that begins or ends, in the call of its
     * IX_LOG_EPOCH and behind that: */
    IX_LOG_EXPOSURE = 20, /* Win_post, Win_wait, Win_test: peer is an origin. sequence: the k-th
                           * post of this process for that origin on this window, of both calls */
    IX_LOG_ACCESS = 21,   /* Win_start, Win_complete: peer is a target. sequence: the k-th start of
                           * this process for that target. It is the target's k-th post for us:
                           * the start needs that, and the target's wait needs our complete */
    IX_LOG_POLLS = 22, /* the second record of a test or probe that found something: ix_log_polls */
    IX_LOG_PART_ARRIVED = 23, /* MPI_Parrived that found its partition after it had found nothing:
                               * peer, tag, comm and sequence as the start of its request, bytes of
                               * one partition, which one in path */
};

enum ix_log_flags {
    IX_LOG_FIRST = 1,        /* the first record of its call: the others have the same times */
    IX_LOG_WILDCARD = 2,     /* posted with MPI_ANY_SOURCE or MPI_ANY_TAG */
    IX_LOG_PERSISTENT = 4,   /* begun by MPI_Start */
    IX_LOG_UNCOUNTED = 8,    /* sequence is not known: too many streams at a time */
    IX_LOG_CANCELLED = 16,   /* no message came */
    IX_LOG_AFTER_PAUSE = 32, /* between the record before it and this one measuring was paused */
    IX_LOG_FAILED = 64,      /* truncated, or another error: bytes are as posted */
    IX_LOG_VARYING = 128,    /* collective that need not wait for all: blocks are or may be empty (v
                              * and w variants), a fence that ends no epoch, Win_free, a start
                              * or lock with MPI_MODE_NOCHECK */
};

#define IX_LOG_PARTS_INITS 4095u
#define IX_LOG_PARTS_STARTS ((1u << 20) - 1)

#define IX_LOG_NOBODY (-1)    /* no root, all targets */
#define IX_LOG_PROC_NULL (-2) /* nothing moves */
#define IX_LOG_ANY (-3)       /* MPI_ANY_SOURCE of a receive that was not seen complete */
#define IX_LOG_HERE (-4)      /* MPI_ROOT: this process is the root of an intercommunicator */
#define IX_LOG_ANY_TAG (-3)

/* Types of a lock. */
#define IX_LOG_EXCLUSIVE 1
#define IX_LOG_SHARED 2

/* end_call: besides an id. */
#define IX_LOG_OPEN 0u               /* not seen complete */
#define IX_LOG_END_UNSEEN UINT32_MAX /* complete in a call that is not logged, or given up */

/* Above the path of a record of one partition: its number from 1 on, IX_LOG_PARTITION_LATER of all
 * from there on. A log of before has 0. */
enum { IX_LOG_PATH_MASK = 3, IX_LOG_PARTITION = 2, IX_LOG_PARTITION_LATER = 63 };

typedef struct ix_log_record {
    int64_t enter_ns, exit_ns; /* since the engine's start */
    int64_t call_before_ns;    /* call time of this thread before this call */
    int64_t bytes;             /* user data; of a receive: what came, before that its room */
    int32_t site;              /* local number, as in the rank's own rows */
    uint16_t operation;
    uint16_t section;
    uint32_t comm; /* common number of the communicator or window; 0: unknown */
    int32_t peer;  /* rank in comm (of an intercommunicator: of its remote group); a root; a target;
                    * or one of the above. MPI_ANY_SOURCE is replaced by what came */
    int32_t tag;   /* MPI_ANY_TAG is replaced by what came. Of a persistent collective: which of
                    * its starts, from 1 on */
    uint32_t sequence; /* from 1 on. Send: the k-th of this process to (comm, peer, tag), counted
                        * where not logged too. Receive: the same from (comm, peer, tag), counted
                        * when posted, or, if it is a wildcard, when completed: the numbers of the
                        * logged receives of a stream belong to them in the order of their posting,
                        * which a cancelled one may shift by one. Partitioned: of the k-th init to
                        * or from (comm, peer, tag) the n-th start is (k - 1) * 2^20 + n.
                        * Collective: the k-th of comm; of a persistent one: the k-th init of comm
                        */
    uint32_t end_call; /* id of the record of the call that saw it complete: its own, another's,
                        * or one of the above */
    uint8_t kind;      /* enum ix_log_kind */
    uint8_t path;      /* enum ix_path; which partition above it */
    uint8_t thread;
    uint8_t flags; /* enum ix_log_flags */
} ix_log_record;
_Static_assert(sizeof(ix_log_record) == 64, "a line of the cache");

/* Where the blocks of a v or w collective differ, or the bytes of its record are not their sum,
 * further records say how large they are, IX_LOG_BLOCK_SIZES in each, those of the lowest ranks
 * first: of MPI_Alltoallv and MPI_Alltoallw what this process sends to each, of MPI_Allgatherv (on
 * rank 0), MPI_Gatherv and MPI_Scatterv (on the root) the block of each. They have comm, sequence
 * and IX_LOG_PERSISTENT as the record of the collective, which is of the same call but where it is
 * persistent: then they are of its init. The sizes lie in `bytes` (two), `peer` and `tag`, and
 * count units of 2^path bytes, rounded down.
 *
 * With path IX_LOG_UNTOLD one record says that the sizes differ and are not told: there are more
 * than IX_LOG_MOST_BLOCKS, or the log covers a part of the run, or half of it is used up. */
#define IX_LOG_BLOCK_SIZES 4
#define IX_LOG_MOST_BLOCKS 1024
#define IX_LOG_UNTOLD 255

/* A record of IX_LOG_POLLS: the calls of the same operation, site and section that found nothing,
 * one behind the other up to this one. Between two of them the thread called nothing but what looks
 * for something else at up to IX_POLLED_SITES other sites, and between any two of all these calls
 * it computed for at most IX_LOG_POLL_GAP_NS, or for no longer than it had been polling. `bytes`:
 * time in the calls of this site, all of it from the time in comm and peer (the lower half in comm,
 * since the engine's start) to this call's enter_ns; `sequence`: their number, as far as it fits.
 */
#define IX_LOG_POLL_GAP_NS 2000

/* The first line of a chunk. */
typedef struct ix_log_chunk {
    uint32_t order;  /* 1, 2, ... as chunks were begun, by any thread; 0: never used */
    uint32_t window; /* number of its window */
    uint16_t thread;
    uint8_t in_use; /* its thread may still write into it */
    uint8_t used;   /* places that are written to their end, the first included */
    uint8_t reserved[52];
} ix_log_chunk;
_Static_assert(sizeof(ix_log_chunk) == sizeof(ix_log_record), "a place of its chunk");

enum ix_log_comm_flags {
    IX_LOG_INTER = 1,
    IX_LOG_WINDOW = 2,
    IX_LOG_FOREIGN = 4, /* some members are outside MPI_COMM_WORLD: their world rank is -1 */
    IX_LOG_MET = 8,     /* its creation was not seen: the number may differ between members */
};

/* A communicator or window. Its number is the same on all members (of an intercommunicator: of both
 * groups), and is not used again when it is freed. */
typedef struct ix_log_comm {
    uint32_t number;
    uint32_t flags;
    int32_t rank;    /* of this process in its (local) group */
    int32_t size;    /* of that */
    int32_t peers;   /* size of the group that messages go to: the remote one's if inter */
    uint32_t own;    /* where the world ranks of the local group begin in the table of members, */
    uint32_t remote; /* and of that of the peers; UINT32_MAX: there was no room */
    uint32_t reserved;
} ix_log_comm;

/* Sites and sections have the numbers of the run directory: so in a log that was kept. */
#define IX_LOG_COMMON_NUMBERS 1u
/* common_start_ns is known, from clocks compared when the job began. */
#define IX_LOG_COMMON_START 2u

/* The log begins with this, on a page of its own. Offsets are from here. */
typedef struct ix_log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint64_t bytes;        /* of the log, as it may become: the budget */
    uint64_t chunk_offset; /* of the first chunk */
    uint32_t chunks;       /* room for so many */
    uint32_t chunks_used; /* the first so many were ever used; the rest of the file may be a hole */
    uint32_t orders;      /* the highest order given */
    uint32_t window_shift; /* a window lasts 2^this ns */
    uint32_t level;
    uint32_t flags;        /* IX_LOG_COMMON_NUMBERS | IX_LOG_COMMON_START, or 0 */
    int64_t origin_ns;     /* where window 0 begins, since the engine's start */
    int64_t end_ns;        /* when logging ended, likewise; 0: the process died */
    int64_t lost;          /* records of covered windows for which there was no room */
    ix_part_table comms;   /* ix_log_comm */
    ix_part_table members; /* int32_t: world ranks */
    /* The start on the clock common to all ranks, and of a log that was kept end_ns there. */
    int64_t common_start_ns, common_end_ns;
} ix_log_header;

/* The process itself and whoever reads a file read records by these functions; they use no memory
 * but the reader's. */

typedef struct ix_log_place {
    uint32_t order;
    uint32_t chunk; /* number of the chunk */
} ix_log_place;

/* The chunks that count at a level, in the order in which they were begun. */
typedef struct ix_log_reader {
    const ix_log_header *log;
    uint32_t level;
    uint32_t chunk_count;
    ix_log_place *chunks; /* by order */
    uint32_t *by_thread;  /* positions in `chunks`, by thread and then by order: time goes on */
} ix_log_reader;

/* Open a log of `bytes` bytes at a level of at least its own (0: its own). 0, or -1 with one line
 * about the fault in `error`: not a log, another version, cut short, no memory. */
int ix_log_open(ix_log_reader *reader, const void *log, size_t bytes, uint32_t level, char *error,
                size_t error_bytes);
void ix_log_close(ix_log_reader *reader);

/* Where a walk over all records is; starts as {0}. Thread after thread, each in the order of time:
 * records of one call stand one behind the other, first the one with IX_LOG_FIRST. */
typedef struct ix_log_cursor {
    uint32_t chunk, place; /* of the last one: position in by_thread, and in the chunk */
} ix_log_cursor;

/* The next record, NULL after the last; *id its id. */
const ix_log_record *ix_log_next(const ix_log_reader *reader, ix_log_cursor *cursor, uint32_t *id);

/* The record with this id; NULL where it is gone, does not count at this level, or is none. */
const ix_log_record *ix_log_find(const ix_log_reader *reader, uint32_t id);

/* Ids as positions of an array: one of ix_log_positions() different numbers from 0 on, in the order
 * of ids; UINT32_MAX where ix_log_find has none. It is found sooner if `near` is the position of a
 * record close to it. */
uint32_t ix_log_position(const ix_log_reader *reader, uint32_t id, uint32_t near);
static inline uint32_t ix_log_positions(const ix_log_reader *reader)
{
    return reader->chunk_count * (IX_LOG_CHUNK_RECORDS - 1);
}

/* Whether calls that were entered at this time (since the engine's start) are in the log. */
int ix_log_covers(const ix_log_reader *reader, int64_t time_ns);

/* How much of [0, until_ns) is covered. */
int64_t ix_log_covered_ns(const ix_log_reader *reader, int64_t until_ns);

/* The communicator or window with a number, NULL if there is none; and the world rank of a member
 * that messages go to, or that is a root (-1: unknown). */
const ix_log_comm *ix_log_comm_numbered(const ix_log_header *log, uint32_t number);
int32_t ix_log_world_rank(const ix_log_header *log, const ix_log_comm *comm, int32_t peer);

/* The same for the group that this process belongs to. */
int32_t ix_log_own_world_rank(const ix_log_header *log, const ix_log_comm *comm, int32_t rank);

#endif
