#define _GNU_SOURCE
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "json.h"
#include "names.h"
#include "output.h"

static const char *const files[] = {"measures.npy", "ranks.npy", "sites.json", "job.json"};
#define FILES 4

static const void *entry(const ix_part_table *table, uint64_t i)
{
    return (const char *)ix_part() + table->offset + i * table->entry_bytes;
}

/* Key of a local site: see names.h. Big-endian offset, so that keys sort by address. */
static size_t site_key(uint64_t i, char *key, size_t room)
{
    const ix_part_header *part = ix_part();
    const ix_part_site *site = entry(&part->sites, i);
    memset(key, 0, IX_SITE_KEY_HEAD + 1);
    key[0] = IX_SITE_LETTER;
    for (int b = 0; b < 8; b++)
        key[1 + b] = (char)(site->offset >> (56 - 8 * b));
    if (site->image == 0xffffffffu || site->image >= part->images.used)
        return IX_SITE_KEY_HEAD + 1;
    const ix_part_image *image = entry(&part->images, site->image);
    memcpy(key + 9, image->build_id, 40);
    size_t length = strnlen(image->path, sizeof image->path);
    if (length > room - IX_SITE_KEY_HEAD - 1)
        length = room - IX_SITE_KEY_HEAD - 1;
    memcpy(key + IX_SITE_KEY_HEAD, image->path, length);
    key[IX_SITE_KEY_HEAD + length] = 0;
    return IX_SITE_KEY_HEAD + length + 1;
}

static size_t section_key(uint64_t i, char *key)
{
    const ix_part_name *name = entry(&ix_part()->sections, i);
    size_t length = strnlen(name->name, sizeof name->name - 1);
    key[0] = IX_SECTION_LETTER;
    memcpy(key + 1, name->name, length);
    key[1 + length] = 0;
    return length + 2;
}

static int own_names(ix_names *names)
{
    char key[IX_SITE_KEY_HEAD + 4096];
    int bad = 0;
    for (uint64_t i = 1; i < ix_part()->sites.used; i++)
        bad |= ix_names_add(names, key, site_key(i, key, sizeof key));
    for (uint64_t i = 1; i < ix_part()->sections.used; i++)
        bad |= ix_names_add(names, key, section_key(i, key));
    return bad;
}

/* Rows under the common numbers; the same key may now stand twice only if a name was cut. */
static int renumber(ix_row *rows, size_t count, const ix_names *names)
{
    char key[IX_SITE_KEY_HEAD + 4096];
    uint64_t site_count = ix_part()->sites.used, section_count = ix_part()->sections.used;
    int32_t first_site = (int32_t)ix_names_sections(names);
    int32_t *numbers = calloc(site_count + section_count + 1, sizeof *numbers);
    if (!numbers)
        return -1;
    int32_t *site = numbers, *section = numbers + site_count;
    for (uint64_t i = 1; i < site_count; i++) {
        int32_t found = ix_names_find(names, key, site_key(i, key, sizeof key));
        site[i] = found < 0 ? 0 : found - first_site + 1;
    }
    for (uint64_t i = 1; i < section_count; i++)
        section[i] = ix_names_find(names, key, section_key(i, key)) + 1;
    for (size_t i = 0; i < count; i++) {
        ix_row *row = &rows[i];
        row->site = row->site > 0 && (uint64_t)row->site < site_count ? site[row->site] : 0;
        row->section = (uint16_t)(row->section < section_count ? section[row->section] : 0);
        row->rank = ix_part()->rank.rank;
    }
    free(numbers);
    return 0;
}

static char *path_of(const char *directory, const char *file, const char *suffix)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s", directory, file, suffix) < 0)
        return NULL;
    return path;
}

/* measures.npy last: whoever finds it finds all of them. */
static int publish(const char *directory)
{
    int bad = 0;
    for (int i = FILES - 1; i >= 0 && !bad; i--) {
        char *from = path_of(directory, files[i], ".tmp"), *to = path_of(directory, files[i], "");
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
    int64_t count; /* rows of measures */
    int64_t fine;
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
                      int ranks)
{
    int64_t longest = 0;
    for (int i = 0; i < ranks; i++)
        if (rows[i].wall_ns > longest)
            longest = rows[i].wall_ns;
    ix_job_facts job = {.ranks = ranks,
                        .library = ix_part() ? ix_part()->library : "",
                        .wall_s = (double)longest * 1e-9,
                        .event_overhead_ns = facts->event_overhead_ns,
                        .clock = ix_clock_name(),
                        .warnings = facts->warnings,
                        .warning_count = facts->warning_count};
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

/* Rank 0, which has heard from all: everything but the others' rows. 0, or -1. */
static int prepare(const ix_merge_facts *facts, const ix_names *names, const report *reports,
                   long long *before, int ranks, const char *measures_path)
{
    size_t total = 0;
    int bad = 0;
    char *ranks_path = path_of(facts->directory, "ranks.npy", ".tmp");
    ix_rank_row *rows = malloc(sizeof *rows * (size_t)ranks);
    for (int i = 0; i < ranks; i++) {
        bad |= !reports[i].fine;
        before[i] = (long long)total;
        total += (size_t)reports[i].count;
        if (rows)
            rows[i] = reports[i].row;
    }
    bad = bad || !rows || !ranks_path ||
          ix_create_table(measures_path, IX_TABLE_MEASURES, NULL, 0, total) ||
          ix_create_table(ranks_path, IX_TABLE_RANKS, rows, (size_t)ranks, (size_t)ranks) ||
          write_json(facts, names, rows, ranks);
    free(rows);
    free(ranks_path);
    return bad ? -1 : 0;
}

/* One question to rank 0 and one answer: where this rank's rows begin, or NOT_FINE on all ranks. */
static long long agree_on_places(MPI_Comm all, const ix_merge_facts *facts, const ix_names *names,
                                 const report *mine, const char *measures_path)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    report *reports = NULL;
    long long *before = NULL, place = NOT_FINE;
    int room = 1;
    if (rank == 0) {
        reports = malloc(sizeof *reports * (size_t)ranks);
        before = malloc(sizeof *before * (size_t)ranks);
        room = reports && before;
    }
    PMPI_Bcast(&room, 1, MPI_INT, 0, all);
    if (room) {
        const int bytes = (int)sizeof *mine;
        PMPI_Gather(mine, bytes, MPI_BYTE, reports, bytes, MPI_BYTE, 0, all);
        if (rank == 0 && prepare(facts, names, reports, before, ranks, measures_path))
            for (int i = 0; i < ranks; i++)
                before[i] = NOT_FINE;
        PMPI_Scatter(before, 1, MPI_LONG_LONG, &place, 1, MPI_LONG_LONG, 0, all);
    }
    free(reports);
    free(before);
    return place;
}

/* Few steps in which all ranks wait for all: on a crowded node each costs every rank a time slice.
 */
int ix_merge(MPI_Comm all, int measured, const ix_merge_facts *facts)
{
    int rank;
    PMPI_Comm_rank(all, &rank);
    ix_names names = {0};
    ix_row *rows = NULL;
    report mine = {.row = {.rank = rank, .ended = IX_MISSING}, .fine = 1};
    if (measured) {
        mine.count = (int64_t)ix_collect_rows(NULL, 0);
        rows = malloc(((size_t)mine.count + 1) * sizeof *rows);
        mine.fine = own_names(&names) == 0 && rows;
        mine.row = ix_part()->rank;
        mine.row.ended = IX_FINALIZED;
    }
    char *measures_path = path_of(facts->directory, "measures.npy", ".tmp");
    int bad = ix_names_unite(&names, mine.fine && measures_path, all);
    if (!bad) {
        mine.fine = ix_names_sort(&names) == 0;
        if (measured && mine.fine) {
            mine.count = (int64_t)ix_collect_rows(rows, (size_t)mine.count);
            mine.fine = renumber(rows, (size_t)mine.count, &names) == 0;
        }
        long long before = agree_on_places(all, facts, &names, &mine, measures_path);
        bad = before == NOT_FINE;
        int fine = !bad && !ix_write_rows(measures_path, rows, (size_t)mine.count, (size_t)before);
        int everybody = 0;
        if (!bad) {
            PMPI_Reduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, 0, all);
            bad = rank == 0 && (!everybody || publish(facts->directory));
        }
        if (rank == 0 && bad)
            remove_temporary(facts->directory);
        PMPI_Bcast(&bad, 1, MPI_INT, 0, all);
    }
    free(measures_path);
    free(rows);
    ix_names_free(&names);
    return bad ? -1 : 0;
}
