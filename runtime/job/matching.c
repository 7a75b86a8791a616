#define _GNU_SOURCE
#include "job/matching.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/facts.h"
#include "analysis/pairing.h"
#include "analysis/rounds.h"
#include "base/clock.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "generated/operations.h"
#include "job/clocks.h"
#include "job/kept_calls.h"
#include "job/own_log.h"
#include "job/sparse.h"

enum { TAG_TOLD = 7101, TAG_ROUNDS = 7102 };
enum { BLOCK_TOLD = 1, BLOCK_ENTERED = 2 };

/* A block is this and as many items as fit. */
typedef struct block_head {
    uint64_t kind, count;
} block_head;

enum {
    TOLD_AT_ONCE = (IX_BLOCK_BYTES - sizeof(block_head)) / sizeof(ix_told),
    ENTERED_AT_ONCE = (IX_BLOCK_BYTES - sizeof(block_head)) / sizeof(ix_entered),
    ROUNDS_AT_ONCE = IX_BLOCK_BYTES / sizeof(ix_round)
};

/* What goes to one rank. */
typedef struct addressed {
    int32_t rank;
    uint32_t item;
} addressed;

typedef struct matching {
    ix_view view;
    const ix_log_header *log;
    int64_t start_ns; /* of this rank's records, on its clock */
    ix_pairing pairing;
    uint32_t next_message;
    /* Collectives: what this rank tells, by the meeting place. */
    ix_entered *entered;
    addressed *places;
    size_t entered_count, next_entered;
    /* What was told to this rank, and the rounds that it makes of that. */
    ix_entered *heard;
    size_t heard_count, heard_room;
    int no_room;
    ix_round *rounds;
    addressed *replies;
    size_t reply_count, next_reply;
    /* The rounds that this rank took part in. */
    ix_round *own;
    size_t own_count, own_room;
    /* The error among the members of the communicator that was asked for last. */
    uint32_t last_comm;
    int64_t last_error_ns;
} matching;

/* ---- Time ------------------------------------------------------------------------------------ */

static int64_t to_common(const matching *m, int64_t record_ns)
{
    return record_ns == INT64_MAX ? record_ns : ix_common_ns(record_ns + m->start_ns);
}

/* The other way: clocks differ by a rate of far below one, so that each step gains digits. */
static int64_t from_common(const matching *m, int64_t common_ns)
{
    if (common_ns == INT64_MAX)
        return common_ns;
    int64_t local = common_ns;
    for (int i = 0; i < 4; i++)
        local += common_ns - ix_common_ns(local);
    return local - m->start_ns;
}

/* ---- Communicators --------------------------------------------------------------------------- */

static int32_t world_rank(const void *context, uint32_t comm, int32_t peer)
{
    const matching *m = context;
    const ix_log_comm *c = ix_log_comm_numbered(m->log, comm);
    int32_t rank = c ? ix_log_world_rank(m->log, c, peer) : -1;
    int comparable = rank < 0 || ix_clock_error_ns(rank) != IX_CLOCK_UNKNOWN;
    return comparable ? rank : IX_OTHER_TIME;
}

static int is_root(const ix_log_comm *c, const ix_op *op)
{
    return op->peer == IX_LOG_HERE ||
           (op->peer >= 0 && !(c->flags & IX_LOG_INTER) && op->peer == c->rank);
}

/* The largest clock error to any member; IX_CLOCK_UNKNOWN also where members are not known. */
static int64_t error_among(matching *m, const ix_log_comm *c)
{
    int64_t error = 0;
    if (c->number == m->last_comm)
        return m->last_error_ns;
    for (int32_t i = 0; i < c->size; i++) {
        int32_t rank = ix_log_own_world_rank(m->log, c, i);
        int64_t one = rank < 0 ? IX_CLOCK_UNKNOWN : ix_clock_error_ns(rank);
        error = one > error ? one : error;
    }
    m->last_comm = c->number;
    m->last_error_ns = error;
    return error;
}

static ix_transfer_facts facts_of(const void *context, const ix_view *view, uint32_t i)
{
    const matching *m = context;
    const ix_op *op = &view->ops[i];
    uint32_t calibration =
        op->operation < IX_OP_COUNT ? ix_operation_calibrations[op->operation] : 0;
    uint8_t role = IX_ROLE_ANY;
    int32_t ranks = 0;
    if (ix_is_collective(op)) {
        const ix_log_comm *c = ix_log_comm_numbered(m->log, op->comm);
        if (c) {
            ranks = c->flags & IX_LOG_INTER ? c->size + c->peers : c->size;
            if (op->kind == IX_LOG_FROM_ROOT || op->kind == IX_LOG_TO_ROOT)
                role = is_root(c, op) ? IX_ROLE_ROOT : IX_ROLE_OTHER;
        }
    }
    return ix_facts_from_profile(op, calibration, ranks, role);
}

/* ---- What is told ---------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const addressed *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* The rounds of this rank, each with its meeting place. */
static int collect_rounds(matching *m)
{
    size_t count = 0;
    for (uint32_t i = 0; i < m->view.count; i++)
        count += ix_is_collective(&m->view.ops[i]) != 0;
    m->entered = malloc((count + 1) * sizeof *m->entered);
    m->places = malloc((count + 1) * sizeof *m->places);
    m->own = malloc((count + 1) * sizeof *m->own);
    m->own_room = count;
    if (!m->entered || !m->places || !m->own)
        return -1;
    for (uint32_t i = 0; i < m->view.count; i++) {
        const ix_op *op = &m->view.ops[i];
        const ix_log_comm *c = ix_is_collective(op) ? ix_log_comm_numbered(m->log, op->comm) : NULL;
        if (!c)
            continue;
        ix_match *match = &m->view.matches[i];
        ix_entered *e = &m->entered[m->entered_count];
        match->peer = -1;
        if (c->flags & (IX_LOG_INTER | IX_LOG_WINDOW | IX_LOG_MET))
            match->state = IX_NO_RULE;
        else if (c->flags & IX_LOG_FOREIGN)
            match->state = IX_OUTSIDE;
        else if (error_among(m, c) == IX_CLOCK_UNKNOWN)
            match->state = IX_CLOCKS;
        else if (ix_entered_of(&m->view, i, c->size, is_root(c, op), e)) {
            int32_t place = ix_round_place(e->comm, e->sequence, c->size);
            e->enter_ns = to_common(m, e->enter_ns);
            e->exit_ns = to_common(m, e->exit_ns);
            m->places[m->entered_count] =
                (addressed){ix_log_own_world_rank(m->log, c, place), (uint32_t)m->entered_count};
            m->entered_count++;
        } else
            match->state = IX_END_UNKNOWN;
    }
    qsort(m->places, m->entered_count, sizeof *m->places, by_rank);
    return 0;
}

static size_t tell_messages(matching *m, int *rank, char *block)
{
    uint32_t first = m->next_message, count = ix_pairing_run(&m->pairing, first);
    ix_told *told = (void *)(block + sizeof(block_head));
    count = count < TOLD_AT_ONCE ? count : TOLD_AT_ONCE;
    ix_pairing_tell(&m->pairing, &m->view, first, count, told);
    for (uint32_t i = 0; i < count; i++) {
        told[i].start_enter = to_common(m, told[i].start_enter);
        told[i].start_exit = to_common(m, told[i].start_exit);
        told[i].end_enter = to_common(m, told[i].end_enter);
        told[i].end_exit = to_common(m, told[i].end_exit);
    }
    *rank = m->pairing.messages[first].peer;
    *(block_head *)(void *)block = (block_head){BLOCK_TOLD, count};
    m->next_message += count;
    return sizeof(block_head) + count * sizeof *told;
}

static size_t tell_entered(matching *m, int *rank, char *block)
{
    ix_entered *entered = (void *)(block + sizeof(block_head));
    size_t count = 0;
    *rank = m->places[m->next_entered].rank;
    for (; m->next_entered < m->entered_count && count < ENTERED_AT_ONCE &&
           m->places[m->next_entered].rank == *rank;
         m->next_entered++)
        entered[count++] = m->entered[m->places[m->next_entered].item];
    *(block_head *)(void *)block = (block_head){BLOCK_ENTERED, count};
    return sizeof(block_head) + count * sizeof *entered;
}

static size_t tell(void *context, int *rank, void *block)
{
    matching *m = context;
    if (m->next_message < m->pairing.count)
        return tell_messages(m, rank, block);
    return m->next_entered < m->entered_count ? tell_entered(m, rank, block) : 0;
}

static void hear_entered(matching *m, const ix_entered *entered, size_t count)
{
    if (m->heard_count + count > m->heard_room) {
        size_t room = 2 * (m->heard_count + count);
        ix_entered *more = realloc(m->heard, room * sizeof *more);
        if (!more) { /* these rounds will lack members, and stay unmatched */
            m->no_room = 1;
            return;
        }
        m->heard = more;
        m->heard_room = room;
    }
    memcpy(m->heard + m->heard_count, entered, count * sizeof *entered);
    m->heard_count += count;
}

static void hear(void *context, int rank, const void *block, size_t bytes)
{
    matching *m = context;
    const block_head *head = block;
    const char *items = (const char *)block + sizeof *head;
    if (bytes < sizeof *head)
        return;
    if (head->kind == BLOCK_ENTERED) {
        hear_entered(m, (const void *)items, head->count);
        return;
    }
    ix_told told[64];
    for (size_t done = 0, now; done < head->count; done += now) {
        now = head->count - done < 64 ? head->count - done : 64;
        memcpy(told, items + done * sizeof *told, now * sizeof *told);
        for (size_t i = 0; i < now; i++) {
            told[i].start_enter = from_common(m, told[i].start_enter);
            told[i].start_exit = from_common(m, told[i].start_exit);
            told[i].end_enter = from_common(m, told[i].end_enter);
            told[i].end_exit = from_common(m, told[i].end_exit);
        }
        ix_pairing_hear(&m->pairing, &m->view, rank, told, now, ix_clock_error_ns(rank));
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Of what was told here: the rounds that all members told of, and who hears of which. */
static void meet(matching *m)
{
    m->rounds = malloc((m->heard_count + 1) * sizeof *m->rounds);
    m->replies = malloc((m->heard_count + 1) * sizeof *m->replies);
    if (!m->rounds || !m->replies)
        return;
    size_t found = ix_rounds_of(m->heard, m->heard_count, m->rounds);
    ix_rounds_sort(m->rounds, found);
    for (size_t i = 0; i < m->heard_count; i++) {
        const ix_entered *e = &m->heard[i];
        const ix_round *round = ix_round_find(m->rounds, found, e->comm, e->sequence, e->start);
        if (round)
            m->replies[m->reply_count++] = (addressed){e->rank, (uint32_t)(round - m->rounds)};
    }
    qsort(m->replies, m->reply_count, sizeof *m->replies, by_rank);
}

static size_t reply(void *context, int *rank, void *block)
{
    matching *m = context;
    ix_round *rounds = block;
    size_t count = 0;
    if (m->next_reply == m->reply_count)
        return 0;
    *rank = m->replies[m->next_reply].rank;
    for (; m->next_reply < m->reply_count && count < ROUNDS_AT_ONCE &&
           m->replies[m->next_reply].rank == *rank;
         m->next_reply++)
        rounds[count++] = m->rounds[m->replies[m->next_reply].item];
    return count * sizeof *rounds;
}

static void hear_rounds(void *context, int rank, const void *block, size_t bytes)
{
    matching *m = context;
    size_t count = bytes / sizeof(ix_round);
    (void)rank;
    if (count > m->own_room - m->own_count)
        count = m->own_room - m->own_count;
    memcpy(m->own + m->own_count, block, count * sizeof(ix_round));
    m->own_count += count;
}

static void match_rounds(matching *m)
{
    ix_rounds_sort(m->own, m->own_count);
    for (uint32_t i = 0; i < m->view.count; i++) {
        const ix_op *op = &m->view.ops[i];
        ix_entered e;
        const ix_log_comm *c = ix_is_collective(op) && m->view.matches[i].state == IX_NOT_LOGGED
                                   ? ix_log_comm_numbered(m->log, op->comm)
                                   : NULL;
        if (!c || !ix_entered_of(&m->view, i, c->size, 0, &e))
            continue;
        const ix_round *there = ix_round_find(m->own, m->own_count, e.comm, e.sequence, e.start);
        if (!there)
            continue;
        ix_round mine = *there;
        mine.first_enter = from_common(m, mine.first_enter);
        mine.last_enter = from_common(m, mine.last_enter);
        mine.root_enter = from_common(m, mine.root_enter);
        mine.last_exit = from_common(m, mine.last_exit);
        m->view.matches[i] =
            ix_match_of_round(&m->view, i, &mine, is_root(c, op), error_among(m, c));
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void free_matching(matching *m)
{
    ix_own_log_free(&m->view);
    ix_pairing_end(&m->pairing);
    free(m->entered);
    free(m->places);
    free(m->heard);
    free(m->rounds);
    free(m->replies);
    free(m->own);
}

/* Exchange, as far as the memory of each rank allows; what is lacking stays unmatched. */
static int exchange(MPI_Comm all, matching *m)
{
    ix_sparse *sparse = ix_sparse_start(all);
    if (!sparse)
        return -1;
    int bad = ix_sparse_exchange(sparse, TAG_TOLD, tell, hear, m);
    if (!bad) {
        meet(m);
        bad = ix_sparse_exchange(sparse, TAG_ROUNDS, reply, hear_rounds, m);
    }
    ix_sparse_end(sparse);
    return bad;
}

static int analyze(matching *m, ix_analysis *analysis)
{
    size_t count = ix_collect_rows(NULL, 0);
    ix_row *rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return -1;
    count = ix_collect_rows(rows, count);
    match_rounds(m);
    ix_pairing_probes(&m->pairing, &m->view);
    int bad = ix_analyze(analysis, &m->view, facts_of, m) ||
              ix_analysis_rest(analysis, &m->view, rows, count, ix_part()->rank.compute_ns);
    free(rows);
    return bad ? -1 : 0;
}

enum { COVERED, WALL, SUM_STATES, SUMS = SUM_STATES + IX_MATCH_STATES };

/* How much of a rank's time the log covers. It begins a little after the clock of the run. */
static int64_t covered_ns(const ix_log_header *log, uint32_t level, int64_t wall_ns)
{
    ix_log_reader reader;
    char error[64];
    int64_t span = (log->end_ns ? log->end_ns : wall_ns) - log->origin_ns;
    if (span <= 0 || ix_log_open(&reader, log, log->bytes, level, error, sizeof error))
        return 0;
    int64_t covered = ix_log_covered_ns(&reader, log->origin_ns + span);
    ix_log_close(&reader);
    return (int64_t)((double)wall_ns * ((double)covered / (double)span));
}

static void sum_up(MPI_Comm all, const matching *m, const ix_analysis *a, int64_t started_ns,
                   ix_matching_facts *facts)
{
    long long mine[SUMS] = {0}, all_of[SUMS] = {0};
    double largest[2] = {0}, of_all[2] = {0};
    if (ix_part())
        mine[WALL] = ix_part()->rank.wall_ns;
    if (m->log)
        mine[COVERED] = covered_ns(m->log, facts->level, mine[WALL]);
    for (int i = 0; i < IX_MATCH_STATES; i++)
        mine[SUM_STATES + i] = a->states[i];
    largest[0] = (double)(ix_now() - started_ns) * 1e-9;
    largest[1] = (double)a->largest_error_ns;
    PMPI_Reduce(mine, all_of, SUMS, MPI_LONG_LONG, MPI_SUM, 0, all);
    PMPI_Reduce(largest, of_all, 2, MPI_DOUBLE, MPI_MAX, 0, all);
    facts->logged_share = all_of[WALL] > 0 ? (double)all_of[COVERED] / (double)all_of[WALL] : 0.0;
    facts->logged_share = facts->logged_share > 1 ? 1 : facts->logged_share;
    for (int i = 0; i < IX_MATCH_STATES; i++)
        facts->unmatched[i] = i == IX_MATCHED ? 0 : all_of[SUM_STATES + i];
    facts->matched = all_of[SUM_STATES + IX_MATCHED];
    facts->violations = all_of[SUM_STATES + IX_CLOCKS];
    facts->seconds = of_all[0];
    facts->error_ns = (int64_t)of_all[1];
    if (m->log) {
        facts->budget_bytes = m->log->bytes;
        if (m->log->window_shift < 63 && m->log->end_ns > m->log->origin_ns)
            facts->windows = ((m->log->end_ns - m->log->origin_ns) >> m->log->window_shift) + 1;
    }
}

/* Whether all ranks are fine; then also what a time line needs, of one part of the run. */
static int keep_calls(MPI_Comm all, int fine, const matching *m, ix_analysis *analysis,
                      ix_matching_facts *facts)
{
    ix_kept_calls kept = {.view = &m->view,
                          .log = m->view.count ? m->log : NULL,
                          .start_ns = m->start_ns,
                          .level = facts->level,
                          .facts = facts_of,
                          .context = m};
    int rank;
    int64_t at_ns = 0;
    PMPI_Comm_rank(all, &rank);
    long long begin = m->log ? to_common(m, 0) : INT64_MAX;
    long long mine[3] = {fine, -(fine ? ix_stake(&kept, analysis, rank, &at_ns) : 0), begin};
    long long least[3] = {0};
    PMPI_Allreduce(mine, least, 3, MPI_LONG_LONG, MPI_MIN, all);
    if (least[0] && least[1])
        ix_keep_calls(all, &kept, analysis, -least[1], at_ns, least[2], &facts->kept_from_ns,
                      &facts->kept_to_ns);
    return least[0] != 0;
}

int ix_match_calls(MPI_Comm all, int measured, ix_analysis *analysis, ix_matching_facts *facts)
{
    int64_t started_ns = ix_now();
    matching m = {.log = measured ? ix_log() : NULL, .start_ns = ix_engine.start_ns};
    *analysis = (ix_analysis){0};
    *facts = (ix_matching_facts){0};
    int mine[2] = {m.log != NULL, m.log ? (int)m.log->level : 0}, highest[2] = {0};
    PMPI_Allreduce(mine, highest, 2, MPI_INT, MPI_MAX, all);
    facts->level = (uint32_t)highest[1];
    if (!highest[0]) {
        facts->reason = "no rank kept a log of its calls";
        return 0;
    }
    ix_clocks_end(all);
    /* A rank without a log, or without memory to read it, takes part and tells nothing. */
    int fine = measured && ix_own_log(&m.view, facts->level) == 0 &&
               ix_pairing_start(&m.pairing, &m.view, world_rank, &m) == 0 &&
               collect_rounds(&m) == 0;
    if (!fine) {
        ix_own_log_free(&m.view);
        m.pairing.count = 0;
        m.entered_count = 0;
    }
    fine = exchange(all, &m) == 0;
    fine = fine && (!measured || analyze(&m, analysis) == 0);
    int everybody = keep_calls(all, fine, &m, analysis, facts);
    if (everybody)
        sum_up(all, &m, analysis, started_ns, facts);
    else
        facts->reason = "a rank had no memory for it";
    if (!everybody)
        ix_analysis_free(analysis);
    free_matching(&m);
    return everybody;
}

const char *ix_match_state_name(int state)
{
    static const char *const names[IX_MATCH_STATES] = {
        "not logged by the other side",
        "matched",
        "with a process outside the job",
        "one-sided, partitioned or between groups",
        "cancelled",
        "end not seen",
        "several possible",
        "sizes differ",
        "clocks disagree",
    };
    return state >= 0 && state < IX_MATCH_STATES ? names[state] : "";
}
