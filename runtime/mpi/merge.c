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
    for (int b = 0; b < 8; b++)
        key[b] = (char)(site->offset >> (56 - 8 * b));
    if (site->image == 0xffffffffu || site->image >= part->images.used)
        return IX_SITE_KEY_HEAD + 1;
    const ix_part_image *image = entry(&part->images, site->image);
    memcpy(key + 8, image->build_id, 40);
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
    memcpy(key, name->name, length);
    key[length] = 0;
    return length + 1;
}

static int own_names(ix_names *sites, ix_names *sections)
{
    char key[IX_SITE_KEY_HEAD + 4096];
    int bad = 0;
    for (uint64_t i = 1; i < ix_part()->sites.used; i++)
        bad |= ix_names_add(sites, key, site_key(i, key, sizeof key));
    for (uint64_t i = 1; i < ix_part()->sections.used; i++)
        bad |= ix_names_add(sections, key, section_key(i, key));
    return bad;
}

/* Rows under the common numbers; the same key may now stand twice only if a name was cut. */
static void renumber(ix_row *rows, size_t count, const ix_names *sites, const ix_names *sections)
{
    char key[IX_SITE_KEY_HEAD + 4096];
    uint64_t site_count = ix_part()->sites.used, section_count = ix_part()->sections.used;
    int32_t *site = calloc(site_count + 1, sizeof *site);
    int32_t *section = calloc(section_count + 1, sizeof *section);
    for (uint64_t i = 1; site && i < site_count; i++)
        site[i] = ix_names_find(sites, key, site_key(i, key, sizeof key)) + 1;
    for (uint64_t i = 1; section && i < section_count; i++)
        section[i] = ix_names_find(sections, key, section_key(i, key)) + 1;
    for (size_t i = 0; i < count; i++) {
        ix_row *row = &rows[i];
        row->site = site && row->site > 0 && (uint64_t)row->site < site_count ? site[row->site] : 0;
        row->section =
            (uint16_t)(section && row->section < section_count ? section[row->section] : 0);
        row->rank = ix_part()->rank.rank;
    }
    free(site);
    free(section);
}

static int by_host(const void *a, const void *b)
{
    return strncmp(a, b, 64);
}

/* Different host names of all ranks, at rank 0; the caller frees them. */
static char *gather_hosts(MPI_Comm all, const char *mine, int *count)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    char *hosts = rank == 0 ? malloc(64 * (size_t)ranks) : NULL;
    int fine = rank != 0 || hosts != NULL;
    PMPI_Bcast(&fine, 1, MPI_INT, 0, all);
    *count = 0;
    if (!fine)
        return NULL;
    PMPI_Gather(mine, 64, MPI_BYTE, hosts, 64, MPI_BYTE, 0, all);
    if (!hosts)
        return NULL;
    qsort(hosts, (size_t)ranks, 64, by_host);
    for (int i = 0; i < ranks; i++)
        if (!*count || strncmp(hosts + 64 * (*count - 1), hosts + 64 * i, 64))
            memmove(hosts + 64 * (*count)++, hosts + 64 * i, 64);
    return hosts;
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

static int write_json(MPI_Comm all, const ix_merge_facts *facts, const ix_names *sites,
                      const ix_names *sections, const ix_rank_row *row)
{
    int rank, ranks, host_count, bad = 0;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    long long wall = row->wall_ns, longest = 0;
    PMPI_Reduce(&wall, &longest, 1, MPI_LONG_LONG, MPI_MAX, 0, all);
    char *hosts = gather_hosts(all, row->host, &host_count);
    if (rank == 0) {
        ix_job_facts job = {.ranks = ranks,
                            .hosts = hosts,
                            .host_count = host_count,
                            .library = ix_part() ? ix_part()->library : "",
                            .wall_s = (double)longest * 1e-9,
                            .event_overhead_ns = facts->event_overhead_ns,
                            .clock = ix_clock_name(),
                            .warnings = facts->warnings,
                            .warning_count = facts->warning_count};
        char *job_path = path_of(facts->directory, "job.json", ".tmp");
        char *site_path = path_of(facts->directory, "sites.json", ".tmp");
        bad = !job_path || !site_path || ix_write_job(job_path, &job, sections) ||
              ix_write_sites(site_path, sites);
        free(job_path);
        free(site_path);
    }
    free(hosts);
    PMPI_Bcast(&bad, 1, MPI_INT, 0, all);
    return bad;
}

int ix_merge(MPI_Comm all, int measured, const ix_merge_facts *facts)
{
    int rank;
    PMPI_Comm_rank(all, &rank);
    ix_names sites = {0}, sections = {0};
    ix_row *rows = NULL;
    size_t count = 0;
    ix_rank_row row = {.rank = rank, .ended = IX_MISSING};
    int fine = 1, everybody = 0;
    if (measured) {
        fine = own_names(&sites, &sections) == 0;
        count = ix_collect_rows(NULL, 0);
        rows = malloc((count + 1) * sizeof *rows);
        fine = fine && rows;
        row = ix_part()->rank;
        row.ended = IX_FINALIZED;
    }
    char *measures_path = path_of(facts->directory, "measures.npy", ".tmp");
    char *ranks_path = path_of(facts->directory, "ranks.npy", ".tmp");
    fine = fine && measures_path && ranks_path;
    PMPI_Allreduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, all);
    int bad = !everybody;
    if (!bad)
        bad = ix_names_unite(&sites, all) || ix_names_unite(&sections, all);
    if (!bad && measured) {
        count = ix_collect_rows(rows, count);
        renumber(rows, count, &sites, &sections);
    }
    if (!bad)
        bad = ix_write_measures(all, measures_path, rows, count) ||
              ix_write_ranks(all, ranks_path, &row) ||
              write_json(all, facts, &sites, &sections, &row);
    if (rank == 0) {
        bad = bad || publish(facts->directory);
        if (bad)
            remove_temporary(facts->directory);
    }
    PMPI_Bcast(&bad, 1, MPI_INT, 0, all);
    free(measures_path);
    free(ranks_path);
    free(rows);
    ix_names_free(&sites);
    ix_names_free(&sections);
    return bad ? -1 : 0;
}
