/* Replays a schedule on a network: when every operation of every rank is over.
 *
 * A schedule is one array of operations, stream after stream (a stream is a thread of a rank), each
 * in the order of the program. Who sends to whom is known, so that a replay is one pass: a stream
 * goes on until it needs a time that nobody has computed yet, and is woken by whoever does. Times
 * are those of LogGP: a send takes o_s of its processor, then its process' link for g + G
 * bytes; it has arrived L + G bytes after it went on the link; the receiver takes o_r when it
 * takes it. Above the eager limit messages start when the receive is posted too.
 *
 * Where messages share links (links.c), streams run ahead as far as they can, which is until they
 * need a message that is under way, and then the next event on the links is passed. Whatever they
 * do from there on is later than that event, so that links see messages in the order of time.
 * Where they go one after the other, a process' messages take its link in the order of the
 * program, but none waits for one that can start only later. */
#ifndef IMBREX_REPLAY_ENGINE_H
#define IMBREX_REPLAY_ENGINE_H

#include <stdint.h>

enum ix_kind {
    IX_CALC,         /* nothing but computation: calc_ns, and bytes times 2^32 ns more */
    IX_SEND,         /* partner: its receive, or IX_NONE: nobody takes it */
    IX_RECV,         /* posted; partner: its send */
    IX_WAIT_SEND,    /* partner: the send, of this process */
    IX_WAIT_RECV,    /* partner: the send that comes */
    IX_WAIT_ARRIVAL, /* the same, but the message is not taken: probes, one-sided epochs */
    IX_MEET,         /* a collective; partner: its meeting */
    IX_WAIT_MEET,    /* partner: the IX_MEET of this process */
};

enum ix_flags {
    IX_BLOCKING = 1,   /* waits in the same operation */
    IX_CALL = 2,       /* first operation of its call */
    IX_PAGES = 4,      /* bytes are in units of 4096 */
    IX_ROUND_TRIP = 8, /* a get, or a put that its target confirms: a latency more */
    IX_UNASKED = 16,   /* leaves without its receive, however large */
    IX_AT_ORIGIN = 32, /* of IX_WAIT_ARRIVAL: up to the eager limit a put is over for its origin
                        * once it has left the origin's memory, which is at once */
};

#define IX_NONE UINT32_MAX

typedef struct ix_op {
    uint32_t calc_ns; /* computation before it */
    uint32_t bytes;
    uint32_t partner;
    uint16_t peer; /* the partner's stream; of IX_MEET its own */
    uint8_t kind, flags;
} ix_op;
_Static_assert(sizeof(ix_op) == 16, "a schedule is read from memory at every replay");

enum ix_algorithm {
    IX_RECURSIVE_DOUBLING,
    IX_TREE_UP_DOWN, /* a binomial tree in, the same out */
    IX_DISSEMINATION,
    IX_RING_ALLREDUCE, /* reduce-scatter and allgather around a ring */
    IX_RABENSEIFNER,   /* recursive halving, then recursive doubling */
    IX_BINOMIAL_FROM_ROOT,
    IX_SCATTER_ALLGATHER, /* of a large broadcast */
    IX_BINOMIAL_TO_ROOT,
    IX_BINOMIAL_SCATTER, /* halves of the buffer */
    IX_BINOMIAL_GATHER,
    IX_RING_ALLGATHER,
    IX_DOUBLING_ALLGATHER,
    IX_BRUCK,
    IX_PAIRWISE, /* of a power of two both of a pair with each other, else in a ring */
    IX_CHAIN_SCAN,
    IX_DIRECT,      /* to neighbours: one message each way, once all are there */
    IX_NO_MESSAGES, /* over when all are there; what it takes then passes as computation */
    IX_LINEAR_SCAN, /* everybody to all of higher rank at once */
};

/* How large the blocks of a collective are. */
enum ix_layout {
    IX_EQUAL,      /* all the same */
    IX_PER_MEMBER, /* one for each member: of allgathers, and of gathers and scatters by trees */
    IX_PER_PAIR,   /* what each member sends to each, sender after sender: of IX_PAIRWISE */
};

/* A collective: its members' operations, in the order of their ranks in the communicator. */
typedef struct ix_meeting {
    uint64_t first; /* in `members` */
    uint32_t count;
    uint32_t root; /* position among the members */
    double bytes;  /* of the whole buffer; of alltoall that of one rank */
    uint32_t algorithm;
    uint32_t layout; /* enum ix_layout */
    uint64_t blocks; /* where its own begin among the schedule's, unless they are equal */
} ix_meeting;

typedef struct ix_schedule {
    const ix_op *ops;
    const uint64_t *first; /* of each stream, and the end of the last */
    const uint32_t *process;
    const double *start_ns;
    const uint32_t *site; /* of each operation; may be NULL */
    const ix_meeting *meetings;
    const uint32_t *members;
    const double *blocks; /* bytes; NULL if all meetings have equal ones */
    uint64_t count;
    uint32_t streams, processes, meeting_count, reserved;
} ix_schedule;

enum ix_held { IX_HELD_BY_SENDER = 1, IX_HELD_BY_RECEIVER = 2, IX_HELD_BY_BOTH = 3 };

/* LogGP of one path; G as byte_ns. `held`: above the eager limit data moves only while the sender
 * (the receiver) is in the call that completes it. `kept_bytes`: up to that size a message that is
 * held by both leaves its sender as soon as it is asked for, for a buffer, in which whatever
 * follows on this connection waits behind it (answers.c). */
enum { IX_SIZES = 24 };

typedef struct ix_route {
    double latency_ns, send_ns, receive_ns, gap_ns, byte_ns;
    double eager_bytes, kept_bytes;
    int32_t held;
    int32_t counted; /* its latencies and bytes are counted on the critical path */
    /* Where time is not in proportion to size: sizes, ascending, and the bytes for which a message
     * of that size takes the link. None: as many as it has. */
    uint64_t sizes;
    double size[IX_SIZES], as_bytes[IX_SIZES];
} ix_route;

enum { IX_SELF, IX_WITHIN, IX_BETWEEN, IX_ROUTES };

/* What becomes of messages that are under way together. */
enum ix_sharing {
    IX_ONE_BY_ONE, /* they take the link of their sender one after the other */
    IX_IN_ORDER,   /* they share the links of sender and receiver; to one peer they follow each
                    * other */
    IX_AT_ONCE,    /* they all share them */
};

typedef struct ix_network {
    ix_route route[IX_ROUTES];
    const uint32_t *node; /* of each process */
    int64_t free_site;    /* transfers begun there take no time; -1: none */
    int64_t driven_site;  /* transfers begun there are not held; -1: none */
    uint32_t sharing;     /* enum ix_sharing */
    uint32_t in_turns; /* of two that would leave a call at the same time the lower stream is ahead
                        * by a little: its announcement comes while the other is inside still */
} ix_network;

/* What decided a time. */
enum ix_why {
    IX_OWN,       /* the operation before it */
    IX_REMOTE,    /* of a wait: the message; of a meeting: another member */
    IX_POSTED,    /* of a transfer: its receive */
    IX_LINK,      /* of a transfer: the one before it on the link */
    IX_AWAITED,   /* of a held transfer: a call of the sender's, */
    IX_AWAITED2,  /* or of the receiver's */
    IX_ANNOUNCED, /* of a probe: the message is on its way, but does not move yet */
    IX_ENDED,     /* of a held transfer that nobody awaits: the sender's end, */
    IX_ENDED2,    /* or the receiver's */
    IX_BEHIND,    /* of a transfer: its answer waits behind a message the other way */
};

/* The results. `time_ns`: of a send its arrival, of a receive when it was posted, of a meeting when
 * it is over. The others may be NULL, and are needed for the critical path. */
typedef struct ix_times {
    double *end_ns;  /* of each stream */
    double *time_ns; /* of each operation */
    uint8_t *why;    /* of each operation that waits; of a send its start is in `start_why` */
    uint8_t *start_why;
    uint32_t *from;       /* of a send: the operation that let it start; of a meeting: the member */
    double *shared_ns;    /* of each send, what it took longer because others were on the links */
    double *parts;        /* of each member, in the order of `members`: ns of latency, bandwidth and
                           * overhead on its way, number of latencies, bytes: five each */
    uint32_t *asked_from; /* of a send whose wait ended as it was asked for: what let it be */
} ix_times;

typedef struct ix_stuck {
    uint32_t stream, reserved;
    uint64_t op;
} ix_stuck;

/* 0; -1: no memory; 1: streams wait for ever, one of them is `stuck`. */
int ix_replay(const ix_schedule *schedule, const ix_network *network, ix_times *times,
              ix_stuck *stuck);

/* Many networks, which differ in latency_ns and byte_ns alone, in one pass. */
enum { IX_MOST_LANES = 1024, IX_LANES_STEP = 8 };
typedef struct ix_wide {
    const ix_network *networks;
    uint64_t lanes;      /* so many: up to IX_MOST_LANES, a multiple of IX_LANES_STEP */
    uint64_t most_bytes; /* of times at once */
    double *run_ns;      /* when the last stream ends in each; NAN where too many orders of messages
                          * decide what comes next (orders.h) */
    uint64_t gone;       /* how many operations were gone through, in all orders */
} ix_wide;

/* As ix_replay, with messages one after the other; 2: the times need more than `most_bytes`. */
int ix_replay_lanes(const ix_schedule *schedule, ix_wide *wide, ix_times *times, ix_stuck *stuck);

enum ix_part { IX_COMPUTATION, IX_LATENCY, IX_BANDWIDTH, IX_OVERHEAD, IX_LATENESS, IX_PARTS };

/* One stretch of the path. Lateness is that of a stream's beginning. */
typedef struct ix_stretch {
    uint32_t op, stream;
    double ns[IX_PARTS];
    double latencies; /* how many L of counted routes are in it */
    double bytes;     /* and how many G */
} ix_stretch;

/* From the end of the last stream back to a beginning: `write` (room for `room`) gets the
 * stretches, latest first. Returns how many there are, which may exceed `room`. */
uint64_t ix_critical_path(const ix_schedule *schedule, const ix_network *network,
                          const ix_times *times, ix_stretch *write, uint64_t room);

/* All files of the engine use these. */

static inline double ix_bytes(const ix_op *op)
{
    return op->flags & IX_PAGES ? op->bytes * 4096.0 : op->bytes;
}

/* The bytes that a message of `bytes` is on the link for: a line between two known sizes, from
 * nothing, which goes on beyond the last: what a network lets pass ahead of its rate it does once.
 * In proportion where the last two took the same time. */
static inline double ix_as_bytes(const ix_route *route, double bytes)
{
    double size = 0, moved = 0, slope = 1;
    for (uint64_t k = 0; k < route->sizes; k++) {
        slope = (route->as_bytes[k] - moved) / (route->size[k] - size);
        if (bytes <= route->size[k])
            return moved + (bytes - size) * slope;
        size = route->size[k];
        moved = route->as_bytes[k];
    }
    if (slope <= 0)
        return moved * (bytes / size);
    return moved + (bytes - size) * slope;
}

static inline double ix_calc(const ix_op *op)
{
    double more = op->kind == IX_CALC ? op->bytes * 4294967296.0 : 0.0;
    return more + op->calc_ns;
}

static inline const ix_route *ix_route_of(const ix_schedule *s, const ix_network *n, uint32_t a,
                                          uint32_t b)
{
    uint32_t p = s->process[a], q = s->process[b];
    return &n->route[p == q ? IX_SELF : n->node[p] == n->node[q] ? IX_WITHIN : IX_BETWEEN];
}

/* A message to its own process takes no link. */
static inline int ix_is_to_itself(const ix_schedule *s, uint32_t stream, const ix_op *op)
{
    return s->process[stream] == s->process[op->peer];
}

static inline int ix_is_site(const ix_schedule *s, const ix_op *op, int64_t op_index, int64_t site)
{
    if (site < 0 || !s->site)
        return 0;
    return s->site[op_index] == site || (op->partner != IX_NONE && s->site[op->partner] == site);
}

/* The members leave at `leave`, having entered at `enter`; `from` and `parts` may be NULL. */
void ix_meet(const ix_schedule *schedule, const ix_network *network, const ix_meeting *meeting,
             const double *enter, double *leave, uint32_t *from, double *parts, double *scratch);

#endif
