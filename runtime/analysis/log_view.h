/* The call log of one rank as the analysis reads it: the records in order, what the ranks agreed on
 * about them, and the other side's times once they are matched. No mpi.h here. */
#ifndef IMBREX_ANALYSIS_LOG_VIEW_H
#define IMBREX_ANALYSIS_LOG_VIEW_H

#include <stdint.h>

#include "core/call_log.h"

/* A record of the log, but that `end_call` is the index of the completing record. */
typedef ix_log_record ix_op;

#define IX_NO_END UINT32_MAX

enum ix_match_state {
    IX_NOT_LOGGED = 0, /* the other side has no record of it */
    IX_MATCHED,
    IX_OUTSIDE,      /* the other side is no rank of this job */
    IX_NO_RULE,      /* one-sided: who needs whom does not follow from the calls */
    IX_WITHDRAWN,    /* cancelled */
    IX_END_UNKNOWN,  /* on one of the sides */
    IX_AMBIGUOUS,    /* threads or wildcards outside a whole log */
    IX_SIZES_DIFFER, /* a receive of more than was sent: the streams do not fit together */
    IX_CLOCKS, /* the clocks of the two are not synchronized, or a message came before it left */
    IX_MATCH_STATES,
};

/* From when on nothing but a message was open at a process: ix_mark_undivided. */
enum ix_undivided {
    IX_DIVIDED = 0,          /* or not known */
    IX_UNDIVIDED_AT_ITS_END, /* in the call that completes it */
    IX_UNDIVIDED,            /* since its start */
};

/* What is known of the other side, on this rank's clock. Of a collective: `first_enter` and
 * `last_enter` of all ranks, the last entry of those whose data this one needs where all need all
 * (all; between groups those of the other one), the root's entry, the last exit. */
typedef struct ix_match {
    uint8_t state;     /* enum ix_match_state */
    uint8_t is_root;   /* of a collective: this rank is its root */
    uint8_t undivided; /* of a message, at this rank: enum ix_undivided */
    int32_t peer;      /* rank in MPI_COMM_WORLD; of a collective who entered last of those
                        * that it needs */
    int64_t error_ns;
    union {
        struct {
            int64_t start_enter, start_exit, end_enter, end_exit; /* of a partitioned send: its
                                                                   * last MPI_Pready, and end_enter
                                                                   * that of its first */
            int64_t between;     /* its call time from start_exit to end_enter; -1: not known */
            uint8_t only_starts; /* and what it called then only started something */
            uint8_t undivided;   /* at the other side: enum ix_undivided */
            int64_t ready_enter; /* of a partitioned send: of this side's last MPI_Pready */
        } other;
        struct {
            int64_t first_enter, last_enter, needed_enter, root_enter, last_exit;
        } all;
    };
} ix_match;

/* What a call of an operation may wait for. */
enum ix_waits {
    IX_WAITS_UNKNOWN = 0, /* for others, in a way that the log does not tell (MPI_Comm_dup) */
    IX_WAITS_NOT = 1,     /* local, starts */
    IX_WAITS_ALL = 2,     /* for all that it completes */
    IX_WAITS_ANY = 3,     /* for the first of what it completes */
    IX_WAITS_FILE = 4,    /* for files, and perhaps for others that read and write with it */
    IX_POLLS_ALL = 5, /* a test or probe: it waits where it is called again until it finds all */
    IX_POLLS_ANY = 6, /* the same until it finds any */
};

/* Whether one call of it returns whatever the others do. */
static inline int ix_waits_for_nobody(enum ix_waits waits)
{
    return waits == IX_WAITS_NOT || waits >= IX_POLLS_ALL;
}

/* Where a thread's clock of calls stood when measuring ended. */
typedef struct ix_thread_end {
    int64_t time_ns, call_ns;
} ix_thread_end;

/* The tags of epochs towards a member of a group (IX_LOG_EXPOSURE, IX_LOG_ACCESS), which are paired
 * as messages: the post with the start that may wait for it, and the complete with the wait. */
enum ix_epoch_tag { IX_EPOCH_BEGINS = -101, IX_EPOCH_ENDS = -102 };

static inline int ix_is_partitioned(uint32_t kind)
{
    return kind == IX_LOG_PARTS_SEND || kind == IX_LOG_PARTS_RECV;
}

static inline int ix_is_group_epoch(uint32_t kind)
{
    return kind == IX_LOG_EXPOSURE || kind == IX_LOG_ACCESS;
}

/* Whether a record of that kind and tag is the side of a pair that waits for the other. */
static inline int ix_is_receiving(uint32_t kind, int32_t tag)
{
    return kind == IX_LOG_RECV || kind == IX_LOG_PARTS_RECV ||
           (kind == IX_LOG_ACCESS && tag == IX_EPOCH_BEGINS) ||
           (kind == IX_LOG_EXPOSURE && tag == IX_EPOCH_ENDS);
}

/* The calls that found nothing before one that did: IX_LOG_POLLS. */
typedef struct ix_polled {
    uint32_t call;    /* the first record of that one */
    int64_t since_ns; /* when the first of them was entered */
    int64_t call_ns;  /* in them */
} ix_polled;

enum { IX_VIEW_THREADS = 256 };

typedef struct ix_view {
    int32_t rank;
    ix_op *ops; /* by thread, then in the order of its calls */
    ix_match *matches;
    uint32_t count;
    ix_polled *polls; /* by call, on the heap */
    uint32_t polls_count, polls_room;
    uint32_t first[IX_VIEW_THREADS + 1]; /* of each thread's ops */
    ix_thread_end ends[IX_VIEW_THREADS];
    const char *const *operations;
    const uint8_t *waits; /* by operation: enum ix_waits */
    uint32_t operation_count;
    uint8_t whole;              /* no call of the run is missing */
    uint8_t one_thread;         /* only one ever called MPI */
    int64_t receiving_since_ns; /* a thread was in a call since then when the process ended, which
                                 * may have received what no record tells; 0: it has one thread, or
                                 * none was */
} ix_view;

/* What a record of IX_LOG_POLLS tells of the call whose first record was added last. 0, or -1
 * without memory. */
int ix_view_add_polls(ix_view *view, const ix_log_record *record);

/* What a call of an operation may wait for. */
static inline enum ix_waits ix_view_waits(const ix_view *view, uint32_t operation)
{
    return operation < view->operation_count ? (enum ix_waits)view->waits[operation]
                                             : IX_WAITS_UNKNOWN;
}

/* What was polled before the call whose first record this is; NULL: nothing. */
const ix_polled *ix_view_polls(const ix_view *view, uint32_t call);

/* Set `first` and `one_thread` from the ops, which must stand by thread, and `ends`. */
void ix_view_index(ix_view *view);

/* How long the thread of record `near` computed and how long it was in calls from `from_ns` to
 * `to_ns`: intervals, because calls between two records are known by their sum only. The closer the
 * record lies to these times, the sooner they are found. */
typedef struct ix_span {
    int64_t compute_min, compute_max, call_min, call_max;
} ix_span;

ix_span ix_view_span(const ix_view *view, uint32_t near, int64_t from_ns, int64_t to_ns);

#endif
