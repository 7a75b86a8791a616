/* How much of one transfer was hidden from the process that owns the record, by three kinds of
 * evidence, each cut with the one before: docs/theory/measuring.md, "Three kinds of evidence". */
#ifndef IMBREX_ANALYSIS_EVIDENCE_H
#define IMBREX_ANALYSIS_EVIDENCE_H

#include "analysis/log_view.h"
#include "core/bounds.h"
#include "core/times.h"

/* What the machine profile says of a transfer. */
typedef struct ix_transfer_facts {
    ix_time time; /* x_lo_ns, x_hi_ns 0: not calibrated */
    ix_class class;
    ix_handshake handshake;
    int64_t least_ns; /* of a message: ix_path_least_ns; 0: not known */
    int32_t partners; /* of a collective: the other ranks of its communicator */
    uint8_t alone;    /* no other transfer of this process completes in its call */
} ix_transfer_facts;

typedef struct ix_evidence {
    ix_bounds call, matched, expected;
    uint8_t is_matched, is_expected; /* these kinds said something */
    uint8_t contradicted;            /* two kinds exclude each other */
} ix_evidence;

/* Of the transfer that record `i` begins. */
ix_evidence ix_evidence_of(const ix_view *view, uint32_t i, const ix_transfer_facts *facts);

/* From when to when its data can have moved, when it is matched; 0 if that is empty. */
int ix_matched_interval(const ix_view *view, uint32_t i, int64_t *from_ns, int64_t *to_ns);

/* The bounds when `span` is what the process did while the data moved. */
ix_bounds ix_bound_span(int64_t x_lo_ns, int64_t x_hi_ns, const ix_span *span, int64_t slack_ns);

/* expected.c: what the class of the path says, between from_ns and to_ns. */
ix_bounds ix_expected_bounds(const ix_view *view, uint32_t i, const ix_transfer_facts *facts,
                             int64_t from_ns, int64_t to_ns);

/* Nothing of a message of this class moves unless its receiver is inside MPI. */
int ix_receiver_moves(const ix_class *class);

/* handshake.c: what follows from who had to be inside MPI first; 0 if nothing does. */
int ix_handshake_bounds(const ix_view *view, uint32_t i, const ix_transfer_facts *facts,
                        int64_t from_ns, int64_t to_ns, ix_bounds *bounds);

/* Whether the thread of record `i` made no calls between it and its end but such as start
 * something, all of them logged. */
int ix_only_starts_until_end(const ix_view *view, uint32_t i);

static inline int ix_is_send(const ix_op *op)
{
    return op->kind >= IX_LOG_SEND && op->kind <= IX_LOG_READY_SEND;
}

static inline int ix_is_fence(const ix_op *op)
{
    return op->kind == IX_LOG_EPOCH && op->sequence != 0;
}

static inline int ix_is_collective(const ix_op *op)
{
    return (op->kind >= IX_LOG_ALL && op->kind <= IX_LOG_NEIGHBOURS) || ix_is_fence(op);
}

/* Whether data of the user moves because of this record. */
static inline int ix_is_transfer(const ix_op *op)
{
    return op->bytes > 0 && op->peer != IX_LOG_PROC_NULL &&
           (ix_is_send(op) || op->kind == IX_LOG_RECV || ix_is_collective(op) ||
            op->kind == IX_LOG_PUT || op->kind == IX_LOG_GET || op->kind == IX_LOG_PARTS_RECV ||
            op->kind == IX_LOG_PART_READY);
}

#endif
