#include "trace.h"

#include "times.h"

#include <limits.h>
#include <stdio.h>

/* 24 MiB of a file, whatever the run: a replay needs iterations enough, not all of them. */
enum { MOST = 1 << 21 };

static FILE *file;
static uint32_t count;

void ixa_trace(enum ixa_trace_kind kind, uint32_t id, double ns)
{
    if (ixa_mode != IXA_RECORD || count >= MOST)
        return;
    if (!file && count == 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/trace.%d.bin", ixa_directory, ixa_rank);
        file = fopen(path, "wb");
    }
    ixa_trace_t entry = {kind, id, (float)ns};
    if (file && fwrite(&entry, sizeof entry, 1, file) == 1)
        count++;
    else
        count = MOST;
}

void ixa_trace_finish(void)
{
    if (file)
        fclose(file);
    file = NULL;
    count = MOST;
}
