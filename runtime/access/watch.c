#include "access/watch.h"

#include "access/callers.h"
#include "access/timeline.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, TRIALS = 33, MOST_HITS = 33, CALL_HITS = 9, STACK = 2048 };

/* One sample, as attr.sample_type asks for it; */
typedef struct {
    struct perf_event_header header;
    uint64_t code, time_ns;
} sample_t;

/* and where the stack is asked for too. */
typedef struct {
    sample_t sample;
    uint64_t abi, pointer, bytes;
    uint64_t stack[STACK / sizeof(uint64_t)];
    uint64_t valid_bytes;
} stack_sample_t;

static int works, busy, descriptor = -1, is_write, hits, taken, pending, from_start;
static struct perf_event_mmap_page *ring;
static uint64_t seen;
static double distance_ns, found_ns;
static double trap_ns, after_ns, spread_ns;
static const void *caller_image, *code, *call;
static size_t sample_bytes, ring_bytes;

static int open_event(uintptr_t address, size_t size, int writes_only)
{
    sample_bytes = caller_image ? sizeof(stack_sample_t) : sizeof(sample_t);
    ring_bytes = (caller_image ? 8 : 1) * PAGE;
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = writes_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
        .bp_addr = address,
        .bp_len = size >= 8 && address % 8 == 0   ? 8
                  : size >= 4 && address % 4 == 0 ? 4
                                                  : 1,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME |
                       (caller_image ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
        .sample_regs_user = caller_image ? UINT64_C(1) << IXA_STACK_POINTER : 0,
        .sample_stack_user = caller_image ? STACK : 0,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    descriptor = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (descriptor < 0)
        return -1;
    ring = mmap(NULL, PAGE + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (ring == MAP_FAILED) {
        close(descriptor);
        return -1;
    }
    seen = 0;
    /* After so many traps it is an accumulator, not a message's element: leave it alone. */
    ioctl(descriptor, PERF_EVENT_IOC_REFRESH, caller_image ? CALL_HITS : MOST_HITS);
    return 0;
}

static void close_event(void)
{
    munmap(ring, PAGE + ring_bytes);
    close(descriptor);
    descriptor = -1;
}

static void take(uint64_t at, void *sample, size_t bytes)
{
    char *data = (char *)ring + PAGE;
    for (size_t i = 0; i < bytes; i++)
        ((char *)sample)[i] = data[(at + i) % ring_bytes];
}

static int64_t sample_time(uint64_t at)
{
    sample_t sample;
    take(at, &sample, sizeof sample);
    return (int64_t)sample.time_ns;
}

static uint64_t ring_head(void)
{
    return __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ixa_watch_start(void)
{
    static volatile uint64_t target;
    double whole[TRIALS], after[TRIALS];
    if (sysconf(_SC_PAGESIZE) != PAGE)
        return;
    /* Armed anew for each trial, as later: a first trap costs more than the next ones. */
    for (int i = 0; i < TRIALS; i++) {
        if (open_event((uintptr_t)&target, sizeof target, 1))
            return;
        int64_t begin = ixa_clock_ns();
        target = (uint64_t)i;
        int64_t end = ixa_clock_ns();
        int seen_it = ring_head() == sample_bytes;
        whole[i] = (double)(end - begin);
        after[i] = seen_it ? (double)(end - sample_time(0)) : -1;
        close_event();
        if (after[i] < 0)
            return;
    }
    qsort(whole, TRIALS, sizeof *whole, compare);
    qsort(after, TRIALS, sizeof *after, compare);
    trap_ns = whole[TRIALS / 2];
    after_ns = after[TRIALS / 2];
    spread_ns = whole[TRIALS * 3 / 4] - whole[TRIALS / 4];
    works = 1;
}

int ixa_watch_works(void)
{
    return works;
}

int ixa_watch_busy(void)
{
    return busy;
}

int ixa_watch_found(void)
{
    return busy && !is_write && taken;
}

void ixa_watch_arm(uintptr_t address, size_t size, int writes_only, const void *caller)
{
    is_write = writes_only;
    caller_image = IXA_STACK_POINTER < 0 ? NULL : caller;
    code = call = NULL;
    taken = pending = hits = 0;
    busy = open_event(address, size, writes_only) == 0;
    works = busy;
}

int ixa_watch_disarm(double *ns)
{
    if (!busy)
        return 0;
    if (descriptor >= 0)
        close_event();
    busy = 0;
    *ns = found_ns;
    return taken && !caller_image && hits < MOST_HITS;
}

const void *ixa_watch_code(void)
{
    return taken ? code : NULL;
}

const void *ixa_watch_call(void)
{
    return taken ? call : NULL;
}

static void look_at(uint64_t at)
{
    stack_sample_t sample;
    take(at, &sample.sample, sizeof sample.sample);
    if (sample.sample.header.size != sample_bytes)
        return;
    code = (const void *)(uintptr_t)sample.sample.code;
    if (!caller_image)
        return;
    take(at, &sample, sizeof sample);
    if (sample.abi == 0 || sample.bytes != STACK || sample.valid_bytes > STACK)
        return;
    call = ixa_call_on_stack(sample.stack, sample.valid_bytes / sizeof *sample.stack, caller_image);
}

int ixa_watch_interval(int64_t start_ns, int64_t now_ns)
{
    if (descriptor < 0)
        return 0;
    uint64_t head = ring_head();
    int count = (int)((head - seen) / sample_bytes);
    if (count == 0)
        return 0;
    hits += count;
    /* From the start of the interval if nothing but this trap disturbed what lies between: behind a
     * trap the caches are cold. From its end otherwise. */
    from_start = !is_write || count == 1;
    if (!from_start)
        distance_ns = (double)(now_ns - sample_time(head - sample_bytes)) - after_ns;
    else
        distance_ns = (double)(sample_time(seen) - start_ns) - (trap_ns - after_ns);
    if (distance_ns < 0)
        distance_ns = 0;
    look_at(is_write ? head - sample_bytes : seen);
    pending = 1;
    return count;
}

void ixa_watch_ended(double start_ns, double end_ns)
{
    if (!pending)
        return;
    found_ns = from_start ? start_ns + distance_ns : end_ns - distance_ns;
    if (found_ns > end_ns)
        found_ns = end_ns;
    if (found_ns < start_ns)
        found_ns = start_ns;
    taken = 1;
    pending = 0;
    if (!is_write)
        close_event();
}

void ixa_watch_resume(void)
{
    if (descriptor < 0)
        return;
    seen = ring_head();
    __atomic_store_n(&ring->data_tail, seen, __ATOMIC_RELEASE);
}

double ixa_watch_without(double length_ns, int count)
{
    double length = length_ns - count * trap_ns;
    return length > 0 ? length : 0;
}

double ixa_watch_spread_ns(void)
{
    return spread_ns;
}
