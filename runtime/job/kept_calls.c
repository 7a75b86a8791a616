#include "job/kept_calls.h"

#include "job/clocks.h"

/* Rows of all ranks together, about, and of one rank. */
enum { ROWS_OF_ALL = 1 << 14, MOST_ROWS = 2048, LEAST_ROWS = 32, RANK_BITS = 22 };
enum { STRETCHES_OF_ALL = 3 << 13, MOST_STRETCHES = 2048, LEAST_STRETCHES = 16 };

static const long long most_stake_us = (1LL << (62 - RANK_BITS)) - 1;

long long ix_stake(const ix_kept_calls *kept, const ix_analysis *analysis, int rank, int64_t *at_ns)
{
    *at_ns = 0;
    if (!kept->log)
        return 0;
    ix_proposal p = ix_excerpt_propose(kept->view, analysis);
    if (p.stake_ns < 0)
        return 0;
    *at_ns = p.at_ns;
    long long us = ix_least(p.stake_ns / 1000 + 1, most_stake_us);
    return us << RANK_BITS | rank;
}

static uint32_t room(int ranks)
{
    int rows = ROWS_OF_ALL / ranks;
    return (uint32_t)(rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows);
}

static int64_t to_common(const ix_kept_calls *kept, int64_t record_ns)
{
    return ix_common_ns(record_ns + kept->start_ns);
}

static int64_t from_common(const ix_kept_calls *kept, int64_t common_ns)
{
    return ix_local_ns(common_ns) - kept->start_ns;
}

/* The stretch around `at_ns` that no gap of the log cuts. */
static void without_gaps(const ix_kept_calls *kept, int64_t at_ns, int64_t *from_ns, int64_t *to_ns)
{
    const ix_log_header *log = kept->log;
    *from_ns = INT64_MIN / 4;
    *to_ns = INT64_MAX / 4;
    if (kept->level == 0 || log->window_shift > 62)
        return;
    int64_t window = (at_ns - log->origin_ns) >> log->window_shift;
    *from_ns = log->origin_ns + (window << log->window_shift);
    *to_ns = *from_ns + (INT64_C(1) << log->window_shift);
}

/* Moments of a row become those of the run's clock. */
static void to_run_time(const ix_kept_calls *kept, ix_rows *rows, int64_t begin_ns)
{
    for (size_t i = 0; i < rows->count; i++) {
        ix_timeline_row *row = (ix_timeline_row *)(void *)rows->rows + i;
        int64_t *times[] = {&row->enter_ns,    &row->exit_ns,       &row->end_enter_ns,
                            &row->end_exit_ns, &row->peer_enter_ns, &row->peer_exit_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            if (*times[k] != -1)
                *times[k] = ix_most(0, to_common(kept, *times[k]) - begin_ns);
    }
}

uint32_t ix_stretches(int ranks)
{
    return (uint32_t)ix_most(LEAST_STRETCHES, ix_least(STRETCHES_OF_ALL / ranks, MOST_STRETCHES));
}

void ix_keep_overview(const ix_kept_calls *kept, const ix_overview *overview, ix_analysis *analysis,
                      int64_t begin_ns)
{
    ix_rows *rows = &analysis->tables[IX_OVERVIEW_ROWS];
    for (uint32_t i = 0; overview->rows && i < overview->count; i++) {
        ix_overview_row *row = ix_rows_append(rows);
        if (!row) {
            rows->count = 0;
            return;
        }
        *row = overview->rows[i];
        row->begin_ns = ix_most(0, to_common(kept, row->begin_ns) - begin_ns);
    }
}

void ix_keep_calls(MPI_Comm all, const ix_kept_calls *kept, ix_analysis *analysis, long long best,
                   int64_t at_ns, int64_t begin_ns, int64_t *from_ns, int64_t *to_ns)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    int winner = (int)(best & ((1LL << RANK_BITS) - 1));
    long long where[3] = {0}; /* the middle and the limits, on the common clock */
    *from_ns = *to_ns = 0;
    if (rank == winner && kept->log) {
        int64_t from, to;
        without_gaps(kept, at_ns, &from, &to);
        where[0] = to_common(kept, at_ns);
        where[1] = where[0] - (at_ns - from);
        where[2] = where[0] + (to - at_ns);
    }
    PMPI_Bcast(where, 3, MPI_LONG_LONG, winner, all);
    /* How far each rank's room reaches, and when its last call ended, negative. */
    long long mine[2] = {INT64_MAX / 4, 0}, least[2] = {0};
    if (kept->log) {
        int64_t own = ix_excerpt_reach(kept->view, from_common(kept, where[0]), room(ranks));
        mine[0] = ix_least(mine[0], own);
        for (uint32_t i = 0; i < kept->view->count; i++)
            mine[1] = ix_least(mine[1], -to_common(kept, kept->view->ops[i].exit_ns));
    }
    PMPI_Allreduce(mine, least, 2, MPI_LONG_LONG, MPI_MIN, all);
    int64_t from = ix_most(ix_most(where[1], where[0] - least[0]), begin_ns);
    int64_t to = ix_least(ix_least(where[2], where[0] + least[0]), -least[1]);
    if (kept->log) {
        ix_rows *rows = &analysis->tables[IX_TIMELINE_ROWS];
        if (ix_excerpt_rows(analysis, kept->view, from_common(kept, from), from_common(kept, to),
                            kept->facts, kept->context))
            rows->count = 0;
        to_run_time(kept, rows, begin_ns);
    }
    *from_ns = from - begin_ns;
    *to_ns = to - begin_ns;
}
