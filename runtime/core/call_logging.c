/* The call log's beginning and end. */
#include "core/call_logging.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/log_comms.h"
#include "core/log_memory.h"
#include "core/log_requests.h"
#include "core/log_streams.h"

int ix_log_is_on;
static int has_cancels;

static void *tables;
static size_t tables_bytes;

int ix_log_start(uint64_t budget, uint64_t step_bytes)
{
    if (!ix_engine.part || tables)
        return -1;
    size_t streams = sizeof(ix_log_stream) << IX_LOG_STREAM_BITS;
    size_t requests = sizeof(ix_log_request) << IX_LOG_REQUEST_BITS;
    void *memory = mmap(NULL, streams + requests, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    if (ix_log_map(budget, step_bytes) || ix_log_comms_start()) {
        int error = errno;
        ix_log_unmap();
        munmap(memory, streams + requests);
        errno = error;
        return -1;
    }
    tables = memory;
    tables_bytes = streams + requests;
    ix_log_streams = memory;
    ix_log_requests = (void *)((char *)memory + streams);
    has_cancels = 0;
    return 0;
}

int64_t ix_log_memory_bytes(void)
{
    return tables ? (int64_t)(tables_bytes + ix_log_provided_bytes()) : 0;
}

void ix_log_begin(void)
{
    if (!tables)
        return;
    int64_t now = ix_now();
    ix_log_memory.origin_ns = now;
    ix_log_memory.header->origin_ns = now - ix_engine.start_ns;
    ix_log_is_on = has_cancels ? IX_LOG_ON_WITH_CANCELS : IX_LOG_ON;
}

void ix_log_cancels(void)
{
    has_cancels = 1;
    if (ix_log_is_on)
        ix_log_is_on = IX_LOG_ON_WITH_CANCELS;
}

void ix_log_common_start(int64_t common_start_ns)
{
    if (!tables)
        return;
    ix_log_memory.header->common_start_ns = common_start_ns;
    ix_log_memory.header->flags |= IX_LOG_COMMON_START;
}

void ix_log_stop(int64_t now)
{
    if (!ix_log_is_on)
        return;
    ix_log_is_on = 0;
    ix_log_memory.header->end_ns = now - ix_engine.start_ns;
}

void ix_log_release(void)
{
    ix_log_is_on = 0;
    ix_log_comms_stop();
    ix_log_unmap();
    if (tables)
        munmap(tables, tables_bytes);
    tables = NULL;
    ix_log_streams = NULL;
    ix_log_requests = NULL;
}

const ix_log_header *ix_log(void)
{
    return ix_log_memory.header;
}
