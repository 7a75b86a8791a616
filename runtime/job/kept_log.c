#include "job/kept_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/warnings.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "job/clocks.h"

static void renumber(ix_log_record *r, const ix_log_names *n)
{
    r->site = r->site > 0 && (uint64_t)r->site < n->sites ? n->site[r->site] : 0;
    r->section = (uint16_t)(r->section < n->sections ? n->section[r->section] : 0);
}

static void write_at(FILE *f, const ix_log_header *log, uint64_t offset, uint64_t bytes)
{
    fseek(f, (long)offset, SEEK_SET);
    fwrite((const char *)log + offset, 1, bytes, f);
}

/* The header and what the tables hold; between them holes. */
static void write_head(FILE *f, const ix_log_header *log, uint32_t chunks)
{
    ix_log_header head = *log;
    head.chunks = head.chunks_used = chunks;
    head.common_start_ns = ix_common_ns(ix_engine.start_ns);
    head.common_end_ns = ix_common_ns(ix_engine.start_ns + log->end_ns);
    head.flags |= IX_LOG_COMMON_NUMBERS;
    fwrite(&head, sizeof head, 1, f);
    write_at(f, log, log->comms.offset, log->comms.used * log->comms.entry_bytes);
    write_at(f, log, log->members.offset, log->members.used * log->members.entry_bytes);
    fseek(f, (long)log->chunk_offset, SEEK_SET);
}

static void write_chunks(FILE *f, const ix_log_reader *reader, const ix_log_names *names)
{
    ix_log_record places[IX_LOG_CHUNK_RECORDS];
    for (uint32_t i = 0; i < reader->chunk_count; i++) {
        memcpy(places,
               (const char *)reader->log + reader->log->chunk_offset +
                   (size_t)reader->chunks[i].chunk * IX_LOG_CHUNK_BYTES,
               sizeof places);
        for (uint32_t k = 1; k < IX_LOG_CHUNK_RECORDS; k++)
            renumber(&places[k], names);
        fwrite(places, sizeof places, 1, f);
    }
}

static int write_log(const char *path, const ix_log_reader *reader, const ix_log_names *names)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    write_head(f, reader->log, reader->chunk_count);
    write_chunks(f, reader, names);
    int bad = ferror(f);
    return fclose(f) || bad ? -1 : 0;
}

/* Nobody asked for it: it must be small and whole, and leave the disk room for the tables. */
static int is_worth_keeping(const char *directory, const ix_log_reader *reader, int ranks,
                            unsigned long long most_bytes)
{
    struct statvfs disk;
    uint64_t bytes = reader->log->chunk_offset + (uint64_t)reader->chunk_count * IX_LOG_CHUNK_BYTES;
    return reader->log->level == 0 && reader->log->lost == 0 &&
           bytes <= most_bytes / (unsigned)(ranks > 0 ? ranks : 1) &&
           statvfs(directory, &disk) == 0 &&
           (unsigned long long)disk.f_bavail * disk.f_frsize >= 2 * most_bytes;
}

void ix_keep_log(const char *directory, int rank, int ranks, const ix_log_names *names)
{
    const char *keep = getenv("IMBREX_KEEP_LOG");
    char *path = NULL, error[128];
    ix_log_reader reader;
    unsigned long long most_bytes = keep ? strtoull(keep, NULL, 10) : 0;
    if (!most_bytes || !ix_log())
        return;
    if (ix_log_open(&reader, ix_log(), ix_log()->bytes, 0, error, sizeof error)) {
        ix_warn("rank %d: its call log is not kept: %s", rank, error);
        return;
    }
    int asked_for = most_bytes == 1;
    if (!asked_for && !is_worth_keeping(directory, &reader, ranks, most_bytes)) {
        ix_log_close(&reader);
        return;
    }
    if (asprintf(&path, "%s/log/rank-%d.log", directory, rank) >= 0) {
        char *end = strrchr(path, '/');
        *end = 0;
        mkdir(path, 0777);
        *end = '/';
        int failed = write_log(path, &reader, names);
        if (failed && asked_for)
            ix_warn("rank %d: its call log is not kept: %s: %s", rank, path, strerror(errno));
        else if (failed)
            unlink(path);
    }
    free(path);
    ix_log_close(&reader);
}
