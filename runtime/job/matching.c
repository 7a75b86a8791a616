#define _GNU_SOURCE
#include "job/matching.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "job/clocks.h"
#include "job/kept_calls.h"
#include "job/matching_parts.h"
#include "progress/report.h"

enum { TAG_TOLD = 7101, TAG_ROUNDS = 7102 };

typedef struct matching {
    ix_matched_log log;
    ix_message_exchange messages;
    ix_round_exchange rounds;
    ix_overview overview;
} matching;

static size_t tell(void *context, int *rank, void *block)
{
    matching *m = context;
    size_t bytes = ix_messages_tell(&m->messages, rank, block);
    return bytes ? bytes : ix_entered_tell(&m->rounds, rank, block);
}

static void hear(void *context, int rank, const void *block, size_t bytes)
{
    matching *m = context;
    const ix_block_head *head = block;
    if (bytes < sizeof *head)
        return;
    if (head->kind == IX_BLOCK_MESSAGES)
        ix_messages_hear(&m->messages, rank, block);
    else
        ix_entered_hear(&m->rounds, block);
}

/* Exchange, as far as the memory of each rank allows; what is lacking stays unmatched. */
static int exchange(MPI_Comm all, matching *m)
{
    ix_sparse *sparse = ix_sparse_start(all);
    if (!sparse)
        return -1;
    int bad = ix_sparse_exchange(sparse, TAG_TOLD, tell, hear, m);
    if (!bad) {
        ix_rounds_meet(&m->rounds);
        bad = ix_sparse_exchange(sparse, TAG_ROUNDS, ix_rounds_tell, ix_rounds_hear, &m->rounds);
    }
    ix_sparse_end(sparse);
    return bad;
}

static int analyze(MPI_Comm all, matching *m, ix_analysis *analysis)
{
    const ix_view *view = &m->log.view;
    size_t count = ix_collect_rows(NULL, 0);
    ix_row *rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return -1;
    count = ix_collect_rows(rows, count);
    int ranks;
    PMPI_Comm_size(all, &ranks);
    ix_overview_start(&m->overview, view->rank, ix_part()->rank.wall_ns, ix_stretches(ranks));
    ix_rounds_match(&m->rounds);
    ix_pairing_probes(&m->messages.pairing, &m->log.view);
    int bad = ix_analyze(analysis, view, ix_matched_facts, &m->log, &m->overview) ||
              ix_analysis_rest(analysis, view, rows, count, ix_part()->rank.compute_ns);
    free(rows);
    return bad ? -1 : 0;
}

static void free_matching(matching *m)
{
    ix_messages_end(&m->messages);
    ix_round_exchange_end(&m->rounds);
    ix_matched_log_end(&m->log);
    ix_overview_free(&m->overview);
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

static void sum_up(MPI_Comm all, const ix_log_header *log, const ix_analysis *a, int64_t started_ns,
                   ix_matching_facts *facts)
{
    long long mine[SUMS] = {0}, all_of[SUMS] = {0};
    double largest[2] = {0}, of_all[2] = {0};
    if (ix_part())
        mine[WALL] = ix_part()->rank.wall_ns;
    if (log)
        mine[COVERED] = covered_ns(log, facts->level, mine[WALL]);
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
    if (log) {
        facts->budget_bytes = log->bytes;
        int64_t end_ns = log->end_ns ? log->end_ns : mine[WALL];
        if (log->window_shift < 63 && end_ns > log->origin_ns)
            facts->windows = ((end_ns - log->origin_ns) >> log->window_shift) + 1;
    }
}

/* Whether all ranks are fine; then also what a time line needs, of one part of the run. */
static int keep_calls(MPI_Comm all, int fine, const ix_matched_log *m, ix_overview *overview,
                      ix_analysis *analysis, ix_matching_facts *facts)
{
    ix_kept_calls kept = {.view = &m->view,
                          .log = m->view.count ? m->log : NULL,
                          .start_ns = m->start_ns,
                          .level = facts->level,
                          .facts = ix_matched_facts,
                          .context = m};
    int rank;
    int64_t at_ns = 0;
    PMPI_Comm_rank(all, &rank);
    long long begin = m->log ? ix_record_to_common(m, 0) : INT64_MAX;
    long long mine[3] = {fine, -(fine ? ix_stake(&kept, analysis, rank, &at_ns) : 0), begin};
    long long least[3] = {0};
    PMPI_Allreduce(mine, least, 3, MPI_LONG_LONG, MPI_MIN, all);
    if (least[0] && m->view.count && m->log) {
        ix_overview_logged(overview, m->log, facts->level);
        ix_keep_overview(&kept, overview, analysis, least[2]);
    }
    if (least[0] && least[1])
        ix_keep_calls(all, &kept, analysis, -least[1], at_ns, least[2], &facts->kept_from_ns,
                      &facts->kept_to_ns);
    return least[0] != 0;
}

int ix_match_calls(MPI_Comm all, int measured, ix_analysis *analysis, ix_matching_facts *facts)
{
    int64_t started_ns = ix_now();
    const ix_log_header *log = measured ? ix_log() : NULL;
    matching m = {.log = {.log = log, .start_ns = ix_engine.start_ns}};
    *analysis = (ix_analysis){0};
    *facts = (ix_matching_facts){0};
    int mine[3] = {log != NULL, log ? (int)log->level : 0, ix_progress_reported.ranks > 0};
    int highest[3] = {0};
    PMPI_Allreduce(mine, highest, 3, MPI_INT, MPI_MAX, all);
    facts->level = (uint32_t)highest[1];
    m.log.is_helped = highest[2];
    if (!highest[0]) {
        facts->reason = "no rank kept a log of its calls";
        return 0;
    }
    ix_clocks_end(all);
    /* A rank without a log, or without memory to read it, takes part and tells nothing. */
    int fine = measured && ix_matched_log_start(&m.log, facts->level) == 0 &&
               ix_messages_start(&m.messages, &m.log) == 0 &&
               ix_round_exchange_start(&m.rounds, &m.log) == 0;
    if (!fine) {
        free_matching(&m);
        m = (matching){.log = {.log = log, .start_ns = ix_engine.start_ns}};
        m.messages.of = m.rounds.of = &m.log;
    }
    fine = exchange(all, &m) == 0;
    fine = fine && (!measured || analyze(all, &m, analysis) == 0);
    int everybody = keep_calls(all, fine, &m.log, &m.overview, analysis, facts);
    if (everybody)
        sum_up(all, log, analysis, started_ns, facts);
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
        "one-sided",
        "cancelled",
        "end not seen",
        "several possible",
        "sizes differ",
        "clocks disagree",
    };
    return state >= 0 && state < IX_MATCH_STATES ? names[state] : "";
}
