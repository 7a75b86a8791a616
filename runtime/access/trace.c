#include "access/trace.h"

#include "access/timeline.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* 24 MiB of a file, whatever the run: a replay needs iterations enough, not all of them. */
enum { MOST = 1 << 21 };

static FILE *file;
static uint32_t count;

int32_t ixa_trace(enum ixa_trace_kind kind, uint32_t id, double ns)
{
    if (ixa_mode != IXA_RECORD || count >= MOST)
        return IXA_NO_TRACE;
    if (!file && count == 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/trace.%d.bin", ixa_directory, ixa_rank);
        file = fopen(path, "wb");
    }
    ixa_trace_t entry = {kind, id, (float)ns};
    if (file && fwrite(&entry, sizeof entry, 1, file) == 1)
        return (int32_t)count++;
    count = MOST;
    return IXA_NO_TRACE;
}

static ixa_group_t *groups;
static size_t group_count;

const ixa_group_t *ixa_group(size_t number)
{
    return number < group_count ? &groups[number] : NULL;
}

static uint64_t skipped;

uint64_t ixa_trace_skipped(void)
{
    return skipped;
}

void ixa_trace_group(const ix_comm *c)
{
    skipped += ixa_mode == IXA_PREPARE;
    if (!c || ixa_mode != IXA_RECORD || (!c->inter && c->size == ix_world_size))
        return;
    ixa_group_t group = {c->inter ? 0 : c->members, c->inter ? c->size + c->peers : c->size};
    size_t k = 0;
    while (k < group_count && (groups[k].members != group.members || groups[k].size != group.size))
        k++;
    if (k == group_count) {
        ixa_group_t *more = realloc(groups, (k + 1) * sizeof *more);
        if (!more)
            return;
        groups = more;
        groups[group_count++] = group;
    }
    ixa_trace(IXA_TRACE_GROUP, (uint32_t)k, 0);
}

void ixa_trace_finish(void)
{
    if (file)
        fclose(file);
    file = NULL;
    count = MOST;
}
