#include "core/reopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/call_logging.h"
#include "core/log_comms.h"
#include "core/log_memory.h"

#define MOST_BYTES (UINT64_C(1) << 40)

static int fits(const ix_part_table *table, uint64_t entry_bytes, uint64_t bytes)
{
    return table->entry_bytes == entry_bytes && table->used <= table->capacity &&
           table->offset <= bytes && table->capacity <= (bytes - table->offset) / entry_bytes;
}

/* NULL, or what is wrong. */
static const char *fault_of(const ix_part_header *part, uint64_t bytes)
{
    if (bytes < sizeof *part || memcmp(part->magic, IX_PART_MAGIC, sizeof part->magic) != 0)
        return "not a part of a profile";
    if (part->version != IX_PART_VERSION || part->header_bytes != sizeof *part)
        return "a part of another version of Imbrex";
    if (part->rank.rank < 0 || part->rank.rank >= part->ranks ||
        !fits(&part->threads, sizeof(ix_part_thread), bytes) ||
        !fits(&part->standing, sizeof(ix_thread), bytes) ||
        part->threads.used > part->standing.capacity || part->log_bytes > MOST_BYTES ||
        part->log_offset > bytes)
        return "damaged";
    return NULL;
}

/* The log may become longer than the file is yet: what is not there reads as zeros. A store goes to
 * a copy of this process. */
static void *map(int file, uint64_t file_bytes, uint64_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    if (mmap(room, file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) !=
        MAP_FAILED)
        return room;
    munmap(room, bytes);
    return NULL;
}

/* Pointers of the process that left it become those of this one, and the sums of a rank that was
 * killed are made of its threads'. */
static void restore_threads(uint64_t bytes)
{
    ix_part_header *part = ix_engine.part;
    const ix_part_thread *threads = (const void *)((const char *)part + part->threads.offset);
    int64_t compute_ns = 0, call_ns = 0, calls = 0, last_ns = 0;
    ix_engine.threads = (void *)((char *)part + part->standing.offset);
    for (uint64_t i = 0; i < part->threads.used; i++) {
        ix_thread *t = &ix_engine.threads[i];
        const ix_part_table *rows = &threads[i].rows;
        int fine = rows->entry_bytes == sizeof(ix_row) && rows->offset <= bytes &&
                   t->row_used <= (bytes - rows->offset) / sizeof(ix_row);
        t->rows = (void *)((char *)part + (fine ? rows->offset : 0));
        t->row_used = fine ? t->row_used : 0;
        compute_ns += threads[i].compute_ns;
        call_ns += threads[i].call_ns;
        calls += threads[i].calls;
        last_ns = threads[i].last_exit_ns > last_ns ? threads[i].last_exit_ns : last_ns;
    }
    if (part->rank.wall_ns)
        return;
    part->rank.wall_ns = last_ns;
    part->rank.compute_ns = compute_ns;
    part->rank.call_ns = call_ns;
    part->rank.calls = calls;
}

static void restore_log(void)
{
    ix_part_header *part = ix_engine.part;
    ix_log_header *log = (void *)((char *)part + part->log_offset);
    ix_log_reader reader;
    char error[64];
    if (!part->log_offset || part->log_bytes < sizeof *log ||
        ix_log_open(&reader, log, part->log_bytes, 0, error, sizeof error))
        return;
    ix_log_close(&reader);
    ix_log_memory.header = log;
    if (log->bytes != part->log_bytes || ix_log_comms_start())
        ix_log_memory.header = NULL;
}

int ix_reopen(const char *path, char *error, size_t error_bytes)
{
    ix_part_header head = {0};
    struct stat is;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int bad = file < 0 || fstat(file, &is) || pread(file, &head, sizeof head, 0) < 0;
    const char *fault = bad ? strerror(errno) : fault_of(&head, (uint64_t)is.st_size);
    uint64_t bytes = fault ? 0 : (uint64_t)is.st_size;
    if (!fault && head.log_offset && head.log_offset + head.log_bytes > bytes)
        bytes = head.log_offset + head.log_bytes;
    if (!fault) {
        ix_engine.part = map(file, (uint64_t)is.st_size, bytes);
        fault = ix_engine.part ? NULL : strerror(errno);
    }
    if (file >= 0)
        close(file);
    if (fault) {
        snprintf(error, error_bytes, "%s: %s", path, fault);
        return -1;
    }
    ix_engine.part_bytes = bytes;
    ix_engine.pid = getpid();
    ix_engine.start_ns = ix_engine.part->started_ns;
    restore_threads((uint64_t)is.st_size);
    restore_log();
    return 0;
}
