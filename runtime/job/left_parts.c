/* After a job whose ranks did not come to MPI_Finalize together: the matching over the parts that
 * they left, for `imbrex run`, which loads this object into a process without MPI. */
#define _GNU_SOURCE
#include "generated/ix_mpi.h"

#ifndef IMBREX_DIRECT
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "core/reopen.h"
#include "job/clocks.h"
#include "job/forked_ranks.h"
#include "job/json.h"
#include "job/matching.h"
#include "job/table.h"
#include "progress/report.h"

typedef struct left_parts {
    const char *parts, *output;
    int ranks, is_helped;
    uint32_t *clocks; /* by rank: as in its part */
} left_parts;

static char *path_of(const char *directory, int rank, const char *suffix)
{
    char *path = NULL;
    return asprintf(&path, "%s/rank-%d.%s", directory, rank, suffix) < 0 ? NULL : path;
}

/* How many rows of each table, then the rows: with the numbers of sites of the rank's part. */
static int write_rows(const char *path, const ix_analysis *analysis)
{
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return -1;
    for (int i = 0; i < IX_ROW_TABLES; i++) {
        uint64_t count = analysis->tables[i].count;
        fwrite(&count, sizeof count, 1, f);
    }
    for (int i = 0; i < IX_ROW_TABLES; i++)
        if (analysis->tables[i].count)
            fwrite(analysis->tables[i].rows, analysis->tables[i].row_bytes,
                   analysis->tables[i].count, f);
    int bad = ferror(f);
    return fclose(f) || bad ? -1 : 0;
}

static int write_facts(const char *directory, const ix_matching_facts *facts)
{
    char *path = NULL;
    FILE *f = asprintf(&path, "%s/matching.json", directory) < 0 ? NULL : fopen(path, "w");
    free(path);
    if (!f)
        return -1;
    fputs("{\n", f);
    ix_put_matching(f, facts);
    fputs(" \"schema_version\": 1}\n", f);
    int bad = ferror(f);
    return fclose(f) || bad ? -1 : 0;
}

/* A rank whose part is not there, or cannot be read, takes part and tells nothing. */
static int match(void *context, int rank)
{
    const left_parts *left = context;
    char *part = path_of(left->parts, rank, "part"), *rows = path_of(left->output, rank, "rows");
    char error[512];
    ix_analysis analysis;
    ix_matching_facts facts;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int measured = part && !ix_reopen(part, error, sizeof error) && ix_part()->rank.rank == rank &&
                   ix_part()->ranks == left->ranks;
    const ix_log_header *log = measured ? ix_log() : NULL;
    int64_t start_ns = measured ? ix_engine.start_ns : 0;
    int is_common = log && log->flags & IX_LOG_COMMON_START;
    if (ix_clocks_of_parts(rank, left->ranks, left->clocks, start_ns,
                           is_common ? log->common_start_ns : start_ns))
        return 1;
    ix_progress_reported.ranks = left->is_helped;
    int matched = ix_match_calls(MPI_COMM_WORLD, measured, &analysis, &facts);
    int bad = matched && measured && write_rows(rows, &analysis);
    if (rank == 0)
        bad |= write_facts(left->output, &facts) != 0;
    free(part);
    free(rows);
    return bad;
}

/* 1 + the number of the clock of each rank; 0 where there is no part that says it. */
static void read_clocks(left_parts *left)
{
    for (int i = 0; i < left->ranks; i++) {
        ix_part_header head;
        char *path = path_of(left->parts, i, "part");
        FILE *f = path ? fopen(path, "r") : NULL;
        if (f && fread(&head, sizeof head, 1, f) == 1 && head.header_bytes == sizeof head)
            left->clocks[i] = head.clock;
        if (f)
            fclose(f);
        free(path);
    }
}

/* Match the calls of `ranks` ranks whose parts are parts/rank-N.part. Leaves output/rank-N.rows of
 * each rank with a part, with the tables of analysis/rows.h one behind the other, and
 * output/matching.json, which says why where nothing was matched. `is_helped`: some rank had a
 * progress thread. 0, or 1 where that failed. */
__attribute__((visibility("default"))) int
ix_match_left_parts(const char *parts, const char *output, int ranks, int is_helped)
{
    left_parts left = {.parts = parts, .output = output, .ranks = ranks, .is_helped = is_helped};
    ix_job job = {.all = MPI_COMM_NULL};
    left.clocks = calloc((size_t)ranks, sizeof *left.clocks);
    if (!left.clocks)
        return 1;
    ix_clock_start(NULL);
    read_clocks(&left);
    ix_load_table(&job);
    int bad = ix_fork_ranks(ranks, output, match, &left);
    free(left.clocks);
    return bad ? 1 : 0;
}
#endif
