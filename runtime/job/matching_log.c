/* The log of one rank for the matching: its communicators, its clock, what the profile says. */
#include <stdlib.h>

#include "analysis/facts.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "generated/operations.h"
#include "job/clocks.h"
#include "job/matching_parts.h"
#include "job/own_log.h"

int ix_matched_log_start(ix_matched_log *m, uint32_t level)
{
    uint64_t comms = m->log ? m->log->comms.used : 0;
    m->errors_ns = malloc((comms + 1) * sizeof *m->errors_ns);
    for (uint64_t i = 0; m->errors_ns && i < comms; i++)
        m->errors_ns[i] = IX_ERROR_NOT_ASKED;
    return !m->errors_ns || ix_own_log(&m->view, level) ? -1 : 0;
}

void ix_matched_log_end(ix_matched_log *m)
{
    ix_own_log_free(&m->view);
    free(m->errors_ns);
    m->errors_ns = NULL;
}

int64_t ix_record_to_common(const ix_matched_log *m, int64_t record_ns)
{
    return record_ns == INT64_MAX ? record_ns : ix_common_ns(record_ns + m->start_ns);
}

int64_t ix_record_from_common(const ix_matched_log *m, int64_t common_ns)
{
    return common_ns == INT64_MAX ? common_ns : ix_local_ns(common_ns) - m->start_ns;
}

int32_t ix_matched_world_rank(const void *context, uint32_t comm, int32_t peer)
{
    const ix_matched_log *m = context;
    const ix_log_comm *c = ix_log_own_comm(comm);
    int32_t rank = c ? ix_log_world_rank(m->log, c, peer) : -1;
    int comparable = rank < 0 || ix_clock_error_ns(rank) != IX_CLOCK_UNKNOWN;
    return comparable ? rank : IX_OTHER_TIME;
}

int32_t ix_members_of(const ix_log_comm *c)
{
    return c->flags & IX_LOG_INTER ? c->size + c->peers : c->size;
}

int ix_group_in(const ix_matched_log *m, const ix_log_comm *c)
{
    return c->flags & IX_LOG_INTER &&
           ix_log_world_rank(m->log, c, 0) < ix_log_own_world_rank(m->log, c, 0);
}

int32_t ix_member_of(const ix_matched_log *m, const ix_log_comm *c, int32_t member)
{
    int32_t before = ix_group_in(m, c) ? c->peers : 0; /* of the other group */
    if (member >= before && member < before + c->size)
        return ix_log_own_world_rank(m->log, c, member - before);
    return ix_log_world_rank(m->log, c, before ? member : member - c->size);
}

int ix_is_root_of(const ix_log_comm *c, const ix_op *op)
{
    return op->peer == IX_LOG_HERE ||
           (op->peer >= 0 && !(c->flags & IX_LOG_INTER) && op->peer == c->rank);
}

static int64_t ask_error_among(const ix_matched_log *m, const ix_log_comm *c)
{
    int64_t error = 0;
    for (int32_t i = 0; i < ix_members_of(c); i++) {
        int32_t rank = ix_member_of(m, c, i);
        int64_t one = rank < 0 ? IX_CLOCK_UNKNOWN : ix_clock_error_ns(rank);
        error = one > error ? one : error;
    }
    return error;
}

int64_t ix_error_among(const ix_matched_log *m, const ix_log_comm *c)
{
    const ix_log_comm *first = (const void *)((const char *)m->log + m->log->comms.offset);
    int64_t *known = &m->errors_ns[c - first];
    if (*known == IX_ERROR_NOT_ASKED)
        *known = ask_error_among(m, c);
    return *known;
}

ix_transfer_facts ix_matched_facts(const void *context, const ix_view *view, uint32_t i)
{
    const ix_matched_log *m = context;
    const ix_op *op = &view->ops[i];
    uint32_t calibration =
        op->operation < IX_OP_COUNT ? ix_operation_calibrations[op->operation] : 0;
    uint8_t role = IX_ROLE_ANY;
    int32_t ranks = 0;
    int between_groups = 0;
    if (ix_is_collective(op)) {
        const ix_log_comm *c = ix_log_own_comm(op->comm);
        if (c) {
            ranks = ix_members_of(c);
            between_groups = (c->flags & IX_LOG_INTER) != 0;
            if (op->kind == IX_LOG_FROM_ROOT || op->kind == IX_LOG_TO_ROOT)
                role = ix_is_root_of(c, op) ? IX_ROLE_ROOT : IX_ROLE_OTHER;
        }
    }
    ix_transfer_facts facts = ix_facts_from_profile(op, calibration, ranks, role);
    if (between_groups)
        ix_facts_between_groups(&facts);
    if (m->is_helped) { /* the probe measured what moves where nobody looks */
        facts.class.known = facts.handshake.needs = 0;
        if (ix_is_collective(op))
            facts.time.head_ns = IX_UNKNOWN;
    }
    return facts;
}
