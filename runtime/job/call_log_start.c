#include "job/call_log_start.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/warnings.h"
#include "core/call_logging.h"
#include "core/internal.h"
#include "job/clocks.h"
#include "job/memory.h"
#include "mpi/comms.h"

#define DEFAULT_BYTES (INT64_C(64) << 20)

/* The log takes no more than this share of the memory that is free, counting all ranks of the node,
 * and of the address space that a limit leaves: at the end as much again is read twice over. */
enum { SHARE = 8 };

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* "64M", "off", "1048576"; -1: none of these. */
static int64_t bytes_of(const char *text)
{
    char *end;
    if (!strcmp(text, "off"))
        return 0;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    int shift = *end == 'k' || *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (end == text || *end || errno || number < 0 || number > INT64_MAX >> 30)
        return -1;
    return (int64_t)number << shift;
}

static int64_t wanted(int rank)
{
    const char *text = getenv("IMBREX_LOG");
    if (!text || !*text)
        return DEFAULT_BYTES;
    int64_t bytes = bytes_of(text);
    if (bytes < 0 && rank == 0)
        ix_warn("IMBREX_LOG=%s: neither a size (64M) nor off: calls are not logged", text);
    return bytes < 0 ? 0 : bytes;
}

/* A number behind a word of a file, times `unit`; -1: there is none. */
static int64_t number_in(const char *path, const char *label, int64_t unit)
{
    char line[256];
    long long number = -1;
    FILE *f = fopen(path, "r");
    while (f && number < 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, label, strlen(label)) &&
            sscanf(line + strlen(label), "%lld", &number) != 1)
            number = -1;
    if (f)
        fclose(f);
    return number < 0 ? -1 : (int64_t)number * unit;
}

/* What the control group of this process may still take; INT64_MAX: no limit is known. */
static int64_t left_in_group(void)
{
    char group[512] = "", path[640];
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (f) {
        char line[600];
        while (fgets(line, sizeof line, f))
            if (sscanf(line, "0::%511s", group) == 1)
                break;
        fclose(f);
    }
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    int64_t most = number_in(path, "", 1);
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    int64_t taken = number_in(path, "", 1);
    if (most < 0)
        return INT64_MAX;
    return taken < 0 || taken > most ? 0 : most - taken;
}

static int64_t free_memory(void)
{
    int64_t available = number_in("/proc/meminfo", "MemAvailable:", 1024);
    return at_most(available < 0 ? INT64_MAX : available, left_in_group());
}

/* What one of so many ranks of the node may take of it. */
static int64_t spare_memory(int ranks)
{
    return at_most(free_memory() / ranks, ix_address_space_left()) / SHARE;
}

static void start(int64_t budget, int64_t asked, int rank)
{
    if (budget < (int64_t)IX_LOG_LEAST) {
        if (asked > 0 && rank == 0)
            ix_warn("calls are not logged: no memory to spare for %" PRId64 " KiB a rank",
                    (int64_t)(IX_LOG_LEAST >> 10));
        return;
    }
    const char *step = getenv("IMBREX_LOG_STEP");
    int64_t step_bytes = step ? bytes_of(step) : 0;
    if (ix_log_start((uint64_t)budget, step_bytes > 0 ? (uint64_t)step_bytes : 0))
        ix_warn("rank %d: its calls are not logged: %s", rank, strerror(errno));
}

void ix_call_log_start(MPI_Comm all, int measured, int rank)
{
    int64_t asked = measured ? wanted(rank) : 0;
    int64_t mine = at_most(asked, spare_memory(ix_comms_ranks_on_node())), least = 0;
    if (asked > 0 && asked < (int64_t)IX_LOG_LEAST)
        mine = (int64_t)IX_LOG_LEAST;
    if (!measured)
        mine = INT64_MAX; /* it has no say */
    PMPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, all);
    if (measured)
        start(least, asked, rank);
    if (ix_log()) {
        ix_log_common_start(ix_common_ns(ix_engine.start_ns));
        ix_part()->clock = (uint32_t)ix_clock_number() + 1;
        ix_comms_number_predefined();
    }
}

void ix_call_log_start_alone(int rank)
{
    int64_t asked = wanted(rank);
    start(at_most(asked, spare_memory(1)), asked, rank);
}

void ix_call_log_tell(int rank)
{
    const ix_log_header *log = ix_log();
    if (log && ix_log_refused())
        ix_warn("rank %d: its call log has room for %" PRIu32 " of %" PRIu32 " records: %s", rank,
                log->chunks_used * (IX_LOG_CHUNK_RECORDS - 1),
                log->chunks * (IX_LOG_CHUNK_RECORDS - 1), strerror(ix_log_refused()));
}
