#include "core/log_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The memory comes in steps of this size, each some 50 us for 4000 records, after a first one that
 * spares short programs all others. */
#define DEFAULT_STEP (UINT64_C(256) << 10)
#define FIRST_STEP (UINT64_C(4) << 20)
enum { FIRST_SHARE = 8 }; /* of the budget, at most */

enum { HIGHEST_LEVEL = 31, HIGHEST_ORDER = (1 << 26) - 2 };

ix_log_memory_state ix_log_memory;

static uint64_t file_offset; /* of the log in the part file */
static dev_t device;         /* which the part file is on, */
static ino_t inode;          /* and which it is */
static int in_file;
static uint32_t step;        /* chunks that it grows by */
static uint32_t ready;       /* chunks that can be written */
static int refused;          /* errno of the growth that failed */
static uint64_t provided;    /* bytes */
static uint32_t hand, swept; /* where to look for a free chunk, and how many since the level rose */
static uint32_t full_window; /* 1 + the window for which there was none */
static uint32_t newest_window, newest_chunks; /* how many chunks that window has */
static _Atomic int lock;

static void acquire(void)
{
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        sched_yield();
}

static void release(void)
{
    atomic_store_explicit(&lock, 0, memory_order_release);
}

int ix_log_refused(void)
{
    return refused;
}

/* The part file, opened anew: a descriptor kept open could have become another file's by now. */
static int open_part(void)
{
    struct stat is;
    int file = open(ix_engine.part_path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &is) || is.st_dev != device || is.st_ino != inode)) {
        close(file);
        errno = ESTALE;
        return -1;
    }
    return file;
}

/* Give the file blocks from `offset` of the log on, so that no store can fail for want of space. */
static int grow_file(uint64_t offset, uint64_t bytes)
{
    struct rlimit limit;
    uint64_t begin = file_offset + offset;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < begin + bytes) {
        errno = EFBIG;
        return -1;
    }
    int file = open_part();
    if (file < 0)
        return -1;
    int error = posix_fallocate(file, (off_t)begin, (off_t)bytes);
    close(file);
    errno = error;
    return error ? -1 : 0;
}

/* Written pages come into the cache of the file some at a time, others one by one as they are
 * touched: that takes three times as long. */
static int write_zeros(uint64_t offset, uint64_t bytes)
{
    static const char zeros[1 << 16];
    int file = open_part(), bad = file < 0;
    for (uint64_t done = 0; done < bytes && !bad;) {
        uint64_t piece = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
        ssize_t now = pwrite(file, zeros, piece, (off_t)(file_offset + offset + done));
        bad = now <= 0;
        done += bad ? 0 : (uint64_t)now;
    }
    int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    return bad ? -1 : 0;
}

static void touch(char *memory, uint64_t bytes, uint64_t page)
{
    if (!madvise(memory, bytes, MADV_POPULATE_WRITE))
        return;
    for (uint64_t at = 0; at < bytes; at += page) {
        volatile char *byte = memory + at;
        *byte = *byte;
    }
}

int ix_log_provide(uint64_t offset, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = offset / page * page, end = (offset + bytes + page - 1) / page * page;
    if (end > ix_log_memory.bytes)
        end = ix_log_memory.bytes;
    if (in_file && grow_file(begin, end - begin))
        return -1;
    touch((char *)ix_log_memory.header + begin, end - begin, page);
    provided += bytes;
    return 0;
}

static int map(uint64_t bytes)
{
    void *memory = MAP_FAILED;
    in_file = ix_engine.mapped_file;
    if (in_file) {
        struct stat is;
        int file = open(ix_engine.part_path, O_RDWR | O_CLOEXEC);
        if (file < 0)
            return -1;
        if (!fstat(file, &is)) {
            device = is.st_dev;
            inode = is.st_ino;
            memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                          (off_t)file_offset);
        }
        int error = errno;
        close(file);
        errno = error;
    } else {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory == MAP_FAILED)
        return -1;
    ix_log_memory.header = memory;
    ix_log_memory.bytes = bytes;
    return 0;
}

/* Lengths of windows follow the budget: with 64 MiB 67 ms, in which 16 calls a microsecond would
 * fill it. */
static uint32_t window_shift(uint64_t bytes)
{
    return 63 - (uint32_t)__builtin_clzll(bytes);
}

static uint64_t pages(uint64_t bytes)
{
    return (bytes + IX_LOG_CHUNK_BYTES - 1) / IX_LOG_CHUNK_BYTES * IX_LOG_CHUNK_BYTES;
}

static void lay_out(ix_log_header *h, uint64_t bytes)
{
    uint64_t comms = pages(bytes / 64), members = pages(bytes / 32);
    h->version = IX_LOG_VERSION;
    h->header_bytes = sizeof *h;
    h->bytes = bytes;
    h->window_shift = window_shift(bytes);
    h->comms =
        (ix_part_table){pages(sizeof *h), sizeof(ix_log_comm), comms / sizeof(ix_log_comm), 0};
    h->members =
        (ix_part_table){h->comms.offset + comms, sizeof(int32_t), members / sizeof(int32_t), 0};
    h->chunk_offset = h->members.offset + members;
    uint64_t chunks = (bytes - h->chunk_offset) / IX_LOG_CHUNK_BYTES;
    h->chunks = chunks < UINT32_MAX / 64 ? (uint32_t)chunks : UINT32_MAX / 64;
}

/* So many more chunks, as long as there is budget and space. */
static int grow(uint32_t more)
{
    const ix_log_header *h = ix_log_memory.header;
    uint64_t offset = h->chunk_offset + (uint64_t)ready * IX_LOG_CHUNK_BYTES;
    if (refused || ready == h->chunks)
        return -1;
    if (more > h->chunks - ready)
        more = h->chunks - ready;
    uint64_t bytes = (uint64_t)more * IX_LOG_CHUNK_BYTES;
    if ((in_file && (grow_file(offset, bytes) || write_zeros(offset, bytes))) ||
        ix_log_provide(offset, bytes)) {
        refused = errno ? errno : ENOSPC;
        return -1;
    }
    ready += more;
    return 0;
}

int ix_log_map(uint64_t budget, uint64_t step_bytes)
{
    uint64_t chunks = (step_bytes ? step_bytes : DEFAULT_STEP) / IX_LOG_CHUNK_BYTES;
    step = chunks < 1 ? 1 : chunks > UINT32_MAX / 64 ? UINT32_MAX / 64 : (uint32_t)chunks;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = (budget < IX_LOG_LEAST ? IX_LOG_LEAST : budget) / page * page;
    file_offset = (ix_engine.part_bytes + page - 1) / page * page;
    ready = hand = swept = full_window = newest_window = newest_chunks = 0;
    refused = 0;
    provided = 0;
    if (map(bytes))
        return -1;
    ix_log_header draft = {0}, *h = ix_log_memory.header;
    lay_out(&draft, bytes);
    if (ix_log_provide(0, sizeof *h)) {
        int error = errno;
        ix_log_unmap();
        errno = error;
        return -1;
    }
    *h = draft;
    ix_log_memory.chunks = (char *)h + h->chunk_offset;
    ix_log_memory.shift = h->window_shift;
    uint64_t first = bytes / FIRST_SHARE < FIRST_STEP ? bytes / FIRST_SHARE : FIRST_STEP;
    uint32_t first_chunks = (uint32_t)(first / IX_LOG_CHUNK_BYTES);
    if (grow(step_bytes || step > first_chunks ? step : first_chunks)) {
        ix_log_unmap();
        errno = refused;
        return -1;
    }
    memcpy(h->magic, IX_LOG_MAGIC, sizeof h->magic);
    ix_engine.part->log_offset = file_offset;
    ix_engine.part->log_bytes = bytes;
    return 0;
}

uint64_t ix_log_provided_bytes(void)
{
    return ix_log_memory.header ? provided : 0;
}

void ix_log_unmap(void)
{
    if (ix_log_memory.header)
        munmap(ix_log_memory.header, ix_log_memory.bytes);
    ix_log_memory = (ix_log_memory_state){0};
}

static ix_log_chunk *chunk_numbered(uint32_t number)
{
    return (void *)(ix_log_memory.chunks + (size_t)number * IX_LOG_CHUNK_BYTES);
}

/* A chunk whose window no longer counts; NULL when the hand has been round without finding one. */
static ix_log_chunk *sweep(void)
{
    uint32_t used = ix_log_memory.header->chunks_used;
    while (swept < used) {
        ix_log_chunk *chunk = chunk_numbered(hand);
        hand = hand + 1 < used ? hand + 1 : 0;
        swept++;
        if (!ix_log_counts(chunk->window) && !__atomic_load_n(&chunk->in_use, __ATOMIC_ACQUIRE))
            return chunk;
    }
    return NULL;
}

static ix_log_chunk *find_free(uint32_t window)
{
    ix_log_header *h = ix_log_memory.header;
    if (h->chunks_used < ready || !grow(step))
        return chunk_numbered(h->chunks_used++);
    while (ix_log_counts(window) && newest_chunks <= ready / 2) { /* leave room for another */
        ix_log_chunk *chunk = sweep();
        if (chunk)
            return chunk;
        if (h->level == HIGHEST_LEVEL)
            break;
        __atomic_store_n(&h->level, h->level + 1, __ATOMIC_RELAXED);
        swept = 0;
    }
    return NULL;
}

ix_log_chunk *ix_log_take_chunk(uint32_t thread, uint32_t window)
{
    ix_log_header *h = ix_log_memory.header;
    ix_log_chunk *chunk = NULL;
    acquire();
    if (window > newest_window || !h->orders) {
        newest_window = window;
        newest_chunks = 0;
    }
    if (ix_log_counts(window) && full_window != window + 1 && h->orders < HIGHEST_ORDER) {
        chunk = find_free(window);
        if (chunk) {
            newest_chunks++;
            *chunk = (ix_log_chunk){.order = ++h->orders,
                                    .window = window,
                                    .thread = (uint16_t)thread,
                                    .in_use = 1,
                                    .used = 1};
        } else if (ix_log_counts(window)) {
            full_window = window + 1;
        }
    }
    release();
    return chunk;
}
