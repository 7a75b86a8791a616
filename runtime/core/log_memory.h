/* The memory of the call log: a header and tables, and chunks that are taken when records need room
 * and taken again when their window no longer counts. */
#ifndef IMBREX_CORE_LOG_MEMORY_H
#define IMBREX_CORE_LOG_MEMORY_H

#include "core/call_log.h"
#include "core/internal.h"

typedef struct ix_log_memory {
    ix_log_header *header;
    size_t bytes;
    char *chunks;
    int64_t origin_ns; /* on the clock, not since the engine's start */
    uint32_t shift;
} ix_log_memory_state;

extern IX_HIDDEN ix_log_memory_state ix_log_memory;

/* step_bytes: as for ix_log_start. 0, or -1 with errno. */
IX_HIDDEN int ix_log_map(uint64_t budget, uint64_t step_bytes);
IX_HIDDEN void ix_log_unmap(void);

/* A chunk without records for a thread in a window, NULL where the window does not count or nothing
 * is free. */
IX_HIDDEN ix_log_chunk *ix_log_take_chunk(uint32_t thread, uint32_t window);

/* Whether calls of this window are logged now. */
static inline int ix_log_counts(uint32_t window)
{
    uint32_t level = __atomic_load_n(&ix_log_memory.header->level, __ATOMIC_RELAXED);
    return window % (UINT32_C(1) << level) == 0;
}

/* Make sure that [offset, offset + bytes) of the log can be written. 0, or -1. */
IX_HIDDEN int ix_log_provide(uint64_t offset, uint64_t bytes);

/* How much of it that is so far. */
IX_HIDDEN uint64_t ix_log_provided_bytes(void);

/* Chunks are pages, in memory too. */
static inline ix_log_chunk *ix_log_chunk_of(const ix_log_record *record)
{
    return (void *)((uintptr_t)record & ~(uintptr_t)(IX_LOG_CHUNK_BYTES - 1));
}

#endif
