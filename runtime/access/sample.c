#include "access/sample.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/timeline.h"

/* What progress.R.bin holds: the intervals so far, and whether the results are written. */
static struct {
    uint64_t intervals, written;
} told;

enum { EACH_NS = 100000000 };

static int file = -1;
static int ended;
static uint64_t last = UINT64_MAX; /* the interval with which recording ends */
static int64_t next_ns;

static void tell(void)
{
    /* Nobody has to listen, and the recording does not depend on it. */
    if (file >= 0 && pwrite(file, &told, sizeof told, 0) != (ssize_t)sizeof told) {
        close(file);
        file = -1;
    }
}

void ixa_sample_start(FILE *times, size_t entry_bytes)
{
    const char *text = getenv("IMBREX_ACCESS_SAMPLE");
    double share = text ? atof(text) : 0;
    struct stat known;
    if (share > 0 && times && fstat(fileno(times), &known) == 0) {
        last = (uint64_t)(share * (double)((uint64_t)known.st_size / entry_bytes));
        last = last ? last : 1;
    }
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/progress.%d.bin", ixa_directory, ixa_rank);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    tell();
}

int ixa_sample_ends(uint64_t intervals)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    int64_t now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    told.intervals = intervals;
    if (now_ns >= next_ns) {
        next_ns = now_ns + EACH_NS;
        tell();
    }
    ended |= intervals >= last;
    return ended;
}

int ixa_sample_has_ended(void)
{
    return ended;
}

void ixa_sample_written(void)
{
    told.written = 1;
    tell();
}
