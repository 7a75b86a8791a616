#define _GNU_SOURCE
#include "job/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/engine.h"
#include "job/call_path_rows.h"
#include "job/json.h"
#include "job/kept_log.h"
#include "job/names.h"
#include "job/numbering.h"
#include "job/tables.h"

static const char *const files[] = {"measures.npy",   "ranks.npy",    "sites.json",  "job.json",
                                    "call_paths.npy", "evidence.npy", "causes.npy",  "waits.npy",
                                    "partners.npy",   "timeline.npy", "overview.npy"};
/* Those of the matching are the last, and not always there. */
enum { MATCHED_FILES = IX_ROW_TABLES, FILES = 5 + MATCHED_FILES };

/* Tables that each rank has rows of; those of the matching are the last. */
enum { MEASURES, CALL_PATHS, FIRST_MATCHED, OWN_TABLES = FIRST_MATCHED + IX_ROW_TABLES };
static const enum ix_table own_tables[OWN_TABLES] = {
    IX_TABLE_MEASURES, IX_TABLE_CALL_PATHS, IX_TABLE_EVIDENCE, IX_TABLE_CAUSES,
    IX_TABLE_WAITS,    IX_TABLE_PARTNERS,   IX_TABLE_TIMELINE, IX_TABLE_OVERVIEW};
static const char *const own_files[OWN_TABLES] = {"measures.npy", "call_paths.npy", "evidence.npy",
                                                  "causes.npy",   "waits.npy",      "partners.npy",
                                                  "timeline.npy", "overview.npy"};

/* What one rank writes into them. */
typedef struct own_rows {
    ix_row *measures;
    ix_call_path_row *call_paths;
} own_rows;

/* Rows under the common numbers; the same key may now stand twice only if a name was cut. */
static void renumber(ix_row *rows, size_t count, ix_analysis *analysis, const ix_numbering *n)
{
    const int32_t rank = ix_part()->rank.rank;
    for (size_t i = 0; i < count; i++) {
        rows[i].site = ix_common_site(n, rows[i].site);
        rows[i].section = ix_common_section(n, rows[i].section);
        rows[i].rank = rank;
    }
    ix_evidence_row *evidence = (void *)analysis->tables[IX_EVIDENCE_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_EVIDENCE_ROWS].count; i++) {
        evidence[i].site = ix_common_site(n, evidence[i].site);
        evidence[i].section = ix_common_section(n, evidence[i].section);
    }
    ix_causes_row *causes = (void *)analysis->tables[IX_CAUSES_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_CAUSES_ROWS].count; i++) {
        causes[i].site = ix_common_site(n, causes[i].site);
        causes[i].section = ix_common_section(n, causes[i].section);
    }
    ix_waits_row *waits = (void *)analysis->tables[IX_WAITS_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_WAITS_ROWS].count; i++) {
        waits[i].site = ix_common_site(n, waits[i].site);
        waits[i].start_site = ix_common_site(n, waits[i].start_site);
    }
    ix_timeline_row *timeline = (void *)analysis->tables[IX_TIMELINE_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_TIMELINE_ROWS].count; i++) {
        timeline[i].site = ix_common_site(n, timeline[i].site);
        timeline[i].section = ix_common_section(n, timeline[i].section);
    }
}

static char *path_of(const char *directory, const char *file, const char *suffix)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s", directory, file, suffix) < 0)
        return NULL;
    return path;
}

/* measures.npy last: whoever finds it finds all of them, and none of a job before. */
static int publish(const char *directory, int matched)
{
    int bad = 0;
    for (int i = FILES - 1; i >= 0 && !bad; i--) {
        char *from = path_of(directory, files[i], ".tmp"), *to = path_of(directory, files[i], "");
        if (i >= FILES - MATCHED_FILES && !matched)
            bad = !to || (unlink(to) && errno != ENOENT);
        else
            bad = !from || !to || rename(from, to);
        free(from);
        free(to);
    }
    return bad;
}

static void remove_temporary(const char *directory)
{
    for (int i = 0; i < FILES; i++) {
        char *path = path_of(directory, files[i], ".tmp");
        if (path)
            unlink(path);
        free(path);
    }
}

/* What rank 0 hears from each rank; it answers with the rows before that rank's, or NOT_FINE. */
typedef struct report {
    ix_rank_row row;
    int64_t count[OWN_TABLES]; /* rows */
    int64_t fine;
    int64_t core_wait_ns;
    ix_progress_report progress;
} report;

#define NOT_FINE ((long long)-1)

static int by_host(const void *a, const void *b)
{
    return strncmp(a, b, sizeof((ix_rank_row *)0)->host);
}

/* The different host names, one behind the other; the caller frees them. */
static char *hosts_of(const ix_rank_row *rows, int ranks, int *count)
{
    const size_t length = sizeof rows->host;
    char *hosts = malloc(length * (size_t)ranks);
    *count = 0;
    if (!hosts)
        return NULL;
    for (int i = 0; i < ranks; i++)
        memcpy(hosts + length * (size_t)i, rows[i].host, length);
    qsort(hosts, (size_t)ranks, length, by_host);
    for (int i = 0; i < ranks; i++)
        if (!*count ||
            strncmp(hosts + length * (size_t)(*count - 1), hosts + length * (size_t)i, length))
            memmove(hosts + length * (size_t)(*count)++, hosts + length * (size_t)i, length);
    return hosts;
}

static int write_json(const ix_merge_facts *facts, const ix_names *names, const ix_rank_row *rows,
                      int ranks, double core_wait_share, const ix_progress_report *progress)
{
    int64_t longest = 0;
    for (int i = 0; i < ranks; i++)
        if (rows[i].wall_ns > longest)
            longest = rows[i].wall_ns;
    ix_job_facts job = {.ranks = ranks,
                        .library = ix_part() ? ix_part()->library : "",
                        .wall_s = (double)longest * 1e-9,
                        .event_overhead_ns = facts->event_overhead_ns,
                        .core_wait_share = core_wait_share,
                        .clock = ix_clock_name(),
                        .matching = facts->matching,
                        .progress = progress};
    char *hosts = hosts_of(rows, ranks, &job.host_count);
    char *job_path = path_of(facts->directory, "job.json", ".tmp");
    char *site_path = path_of(facts->directory, "sites.json", ".tmp");
    job.hosts = hosts;
    int bad = !job_path || !site_path || ix_write_job(job_path, &job, names) ||
              ix_write_sites(site_path, names);
    free(hosts);
    free(job_path);
    free(site_path);
    return bad;
}

/* How many of the own tables this job leaves. */
static int table_count(const ix_merge_facts *facts)
{
    return facts->matching->reason ? FIRST_MATCHED : OWN_TABLES;
}

/* Rank 0, which has heard from all: everything but the others' rows. 0, or -1. */
static int prepare(const ix_merge_facts *facts, const ix_names *names, const report *reports,
                   long long *before, int ranks, char *const *paths)
{
    size_t total[OWN_TABLES] = {0};
    ix_progress_report progress = {0};
    double waited_ns = 0.0, wall_ns = 0.0;
    int bad = 0, is_known = 1;
    char *ranks_path = path_of(facts->directory, "ranks.npy", ".tmp");
    ix_rank_row *rows = malloc(sizeof *rows * (size_t)ranks);
    for (int i = 0; i < ranks; i++) {
        bad |= !reports[i].fine;
        for (int k = 0; k < OWN_TABLES; k++) {
            before[OWN_TABLES * (size_t)i + (size_t)k] = (long long)total[k];
            total[k] += (size_t)reports[i].count[k];
        }
        if (rows)
            rows[i] = reports[i].row;
        ix_progress_add(&progress, &reports[i].progress);
        is_known = is_known && reports[i].core_wait_ns >= 0;
        waited_ns += (double)reports[i].core_wait_ns;
        wall_ns += (double)reports[i].row.wall_ns;
    }
    double share = is_known && wall_ns > 0 ? waited_ns / wall_ns : -1.0;
    for (int k = 0; k < table_count(facts) && !bad; k++)
        bad = ix_create_table(paths[k], own_tables[k], NULL, 0, total[k]);
    bad = bad || !rows || !ranks_path ||
          ix_create_table(ranks_path, IX_TABLE_RANKS, rows, (size_t)ranks, (size_t)ranks) ||
          write_json(facts, names, rows, ranks, share > 1 ? 1 : share, &progress);
    free(rows);
    free(ranks_path);
    return bad ? -1 : 0;
}

/* One question to rank 0 and one answer: where this rank's rows of each table begin, or NOT_FINE on
 * all ranks. */
static void agree_on_places(MPI_Comm all, const ix_merge_facts *facts, const ix_names *names,
                            const report *mine, char *const *paths, long long *places)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    report *reports = NULL;
    long long *before = NULL;
    int room = 1;
    places[0] = NOT_FINE;
    if (rank == 0) {
        reports = malloc(sizeof *reports * (size_t)ranks);
        before = malloc(OWN_TABLES * sizeof *before * (size_t)ranks);
        room = reports && before;
    }
    PMPI_Bcast(&room, 1, MPI_INT, 0, all);
    if (room) {
        const int bytes = (int)sizeof *mine;
        PMPI_Gather(mine, bytes, MPI_BYTE, reports, bytes, MPI_BYTE, 0, all);
        if (rank == 0 && prepare(facts, names, reports, before, ranks, paths))
            for (size_t i = 0; i < OWN_TABLES * (size_t)ranks; i++)
                before[i] = NOT_FINE;
        PMPI_Scatter(before, OWN_TABLES, MPI_LONG_LONG, places, OWN_TABLES, MPI_LONG_LONG, 0, all);
    }
    free(reports);
    free(before);
}

/* This rank's rows into the files that are there. */
static int write_own(const ix_merge_facts *facts, char *const *paths, const own_rows *rows,
                     const report *mine, const long long *places)
{
    int bad = 0;
    for (int k = 0; k < table_count(facts); k++) {
        const void *own = k == MEASURES     ? (const void *)rows->measures
                          : k == CALL_PATHS ? (const void *)rows->call_paths
                                            : facts->analysis->tables[k - FIRST_MATCHED].rows;
        bad |=
            ix_write_rows(paths[k], own_tables[k], own, (size_t)mine->count[k], (size_t)places[k]);
    }
    return bad;
}

/* Few steps in which all ranks wait for all: on a crowded node each costs every rank a time slice.
 */
int ix_merge(MPI_Comm all, int measured, const ix_merge_facts *facts)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    ix_names names = {0};
    own_rows rows = {0};
    report mine = {
        .row = {.rank = rank, .ended = IX_MISSING}, .fine = 1, .core_wait_ns = facts->core_wait_ns};
    if (measured) {
        mine.count[MEASURES] = (int64_t)ix_collect_rows(NULL, 0);
        rows.measures = malloc(((size_t)mine.count[MEASURES] + 1) * sizeof *rows.measures);
        mine.fine = ix_own_names(&names) == 0 && rows.measures;
        mine.row = ix_part()->rank;
        mine.row.ended = IX_FINALIZED;
    }
    char *paths[OWN_TABLES];
    int have_paths = 1;
    for (int k = 0; k < OWN_TABLES; k++) {
        paths[k] = path_of(facts->directory, own_files[k], ".tmp");
        have_paths = have_paths && paths[k];
        if (k >= FIRST_MATCHED)
            mine.count[k] = (int64_t)facts->analysis->tables[k - FIRST_MATCHED].count;
    }
    int bad = ix_names_unite(&names, mine.fine && have_paths, all);
    if (!bad) {
        ix_numbering numbers = {0};
        mine.fine = ix_names_sort(&names) == 0;
        if (measured && mine.fine) {
            mine.count[MEASURES] =
                (int64_t)ix_collect_rows(rows.measures, (size_t)mine.count[MEASURES]);
            mine.fine = ix_number_names(&numbers, &names) == 0;
            if (mine.fine) {
                renumber(rows.measures, (size_t)mine.count[MEASURES], facts->analysis, &numbers);
                mine.count[CALL_PATHS] = ix_call_path_rows(&numbers, &names, &rows.call_paths);
            }
            mine.progress = ix_progress_reported;
            for (int i = 0; mine.fine && i < IX_PROGRESS_SITES; i++)
                mine.progress.sites[i].site =
                    ix_common_site(&numbers, (int32_t)mine.progress.sites[i].site);
            if (mine.fine)
                ix_keep_log(facts->directory, rank, ranks,
                            &(ix_log_names){numbers.site, numbers.section, numbers.sites,
                                            numbers.sections});
            free(numbers.numbers);
        }
        long long places[OWN_TABLES];
        agree_on_places(all, facts, &names, &mine, paths, places);
        bad = places[0] == NOT_FINE;
        int fine = !bad && !write_own(facts, paths, &rows, &mine, places);
        int everybody = 0;
        if (!bad) {
            PMPI_Reduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, 0, all);
            bad = rank == 0 && (!everybody || publish(facts->directory, !facts->matching->reason));
        }
        if (rank == 0 && bad)
            remove_temporary(facts->directory);
        PMPI_Bcast(&bad, 1, MPI_INT, 0, all);
    }
    for (int k = 0; k < OWN_TABLES; k++)
        free(paths[k]);
    free(rows.measures);
    free(rows.call_paths);
    ix_names_free(&names);
    return bad ? -1 : 0;
}
