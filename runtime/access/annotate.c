#include "access/annotate.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/observer.h"
#include "base/json_text.h"
#include "base/measuring.h"
#include "generated/operations.h"

enum { REGIONS = 256, NAME_BYTES = 64 };

/* What imbrex.h calls: `which` of these. */
enum { PRODUCE_BEGIN, PRODUCE_END, CONSUME_BEGIN, CONSUME_END };

typedef struct sum {
    uint64_t count, elements;
    int64_t ns;
} sum_t;

/* One name. Produced data wait for the send that takes them, arrived data for the region that
 * consumes them. */
typedef struct region {
    char name[NAME_BYTES];
    const void *produced, *consumed; /* an address in the message's buffer */
    int produced_waits, arrived;
    int64_t begin_ns, produced_ns, arrived_ns;
    sum_t produce, consume, after, before;
    uint64_t sends, send_bytes, send_elements;
    int64_t first_send_ns, last_send_ns;
    const void *site;
    uint32_t operation;
} region_t;

static region_t regions[REGIONS];
static int region_count, rank;
static const char *directory;
static uint64_t mistakes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static region_t *find(const char *name, size_t length)
{
    char text[NAME_BYTES];
    length = length < sizeof text ? length : sizeof text - 1;
    memcpy(text, name, length);
    text[length] = 0;
    for (int i = 0; i < region_count; i++)
        if (strcmp(regions[i].name, text) == 0)
            return &regions[i];
    if (region_count == REGIONS)
        return NULL;
    memcpy(regions[region_count].name, text, length + 1);
    return &regions[region_count++];
}

static void add(sum_t *sum, int64_t ns, uint64_t elements)
{
    sum->count++;
    sum->elements += elements;
    sum->ns += ns;
}

static void mark(region_t *r, int which, const void *buffer, uint64_t elements, int64_t now)
{
    switch (which) {
    case PRODUCE_BEGIN:
        r->begin_ns = now;
        return;
    case PRODUCE_END:
        add(&r->produce, now - r->begin_ns, elements);
        r->produced = buffer;
        r->produced_ns = now;
        r->produced_waits = 1;
        return;
    case CONSUME_BEGIN:
        r->begin_ns = now;
        r->consumed = buffer;
        if (r->arrived)
            add(&r->before, now - r->arrived_ns, 0);
        r->arrived = 0;
        return;
    default:
        add(&r->consume, now - r->begin_ns, elements);
    }
}

IX_EXPORT void imbrex_access_region(int which, const char *name, size_t length, const void *buffer,
                                    size_t elements)
{
    ix_thread *t = ix_measuring ? ix_current() : NULL;
    if (!t || !name || ix_depth(t) || which < PRODUCE_BEGIN || which > CONSUME_END)
        return;
    int64_t now = t->compute_ns + (t->muted ? 0 : ix_now() - t->last_ns);
    pthread_mutex_lock(&lock);
    if (!(ixa_observed & IXA_ANNOTATED)) {
        ixa_observed |= IXA_ANNOTATED;
        ix_observe(&ixa_observer);
    }
    region_t *r = find(name, length);
    if (r)
        mark(r, which, buffer, elements, now);
    else
        mistakes++;
    pthread_mutex_unlock(&lock);
}

ixa_span ixa_span_of(const ix_buffer *buffer)
{
    ixa_span span = {UINTPTR_MAX, 0};
    ixa_ranges ranges;
    if (ixa_ranges_of(buffer, &ranges))
        return span;
    for (size_t i = 0; i < ranges.count; i++) {
        const ixa_range *r = &ranges.range[i];
        span.low = r->address < span.low ? r->address : span.low;
        span.high = r->address + r->bytes > span.high ? r->address + r->bytes : span.high;
    }
    free(ranges.range);
    return span;
}

static int lies_in(const void *address, ixa_span span)
{
    return (uintptr_t)address >= span.low && (uintptr_t)address < span.high;
}

void ixa_regions_send(const void *site, uint32_t operation, const ix_buffer *buffer,
                      int64_t compute_ns)
{
    ixa_span span = ixa_span_of(buffer);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < region_count; i++) {
        region_t *r = &regions[i];
        if (!r->produced_waits || !lies_in(r->produced, span))
            continue;
        ixa_ranges ranges;
        if (ixa_ranges_of(buffer, &ranges))
            continue;
        free(ranges.range);
        add(&r->after, compute_ns - r->produced_ns, 0);
        r->produced_waits = 0;
        if (r->sends++ == 0)
            r->first_send_ns = compute_ns;
        r->last_send_ns = compute_ns;
        r->send_bytes += ranges.bytes;
        r->send_elements += ranges.bytes / ixa_leaf_bytes(buffer);
        r->site = site;
        r->operation = operation;
    }
    pthread_mutex_unlock(&lock);
}

void ixa_regions_arrival(ixa_span span, int64_t compute_ns)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < region_count; i++)
        if (lies_in(regions[i].consumed, span)) {
            regions[i].arrived = 1;
            regions[i].arrived_ns = compute_ns;
        }
    pthread_mutex_unlock(&lock);
}

void ixa_regions_start(int own_rank, const char *where)
{
    rank = own_rank;
    directory = where;
}

static void write_sum(FILE *file, const char *name, const sum_t *sum)
{
    fprintf(file,
            ", \"%s\": {\"count\": %" PRIu64 ", \"elements\": %" PRIu64 ", \"ns\": %" PRId64 "}",
            name, sum->count, sum->elements, sum->ns);
}

static void write_region(FILE *file, const region_t *r)
{
    Dl_info info = {0};
    uintptr_t offset = (uintptr_t)r->site;
    if (r->site && dladdr(r->site, &info))
        offset -= (uintptr_t)info.dli_fbase;
    fprintf(file, "{\"name\": ");
    ix_put_json_string(file, r->name);
    fprintf(file, ", \"operation\": \"%s\", \"image\": ", ix_operation_names[r->operation]);
    ix_put_json_string(file, info.dli_fname);
    fprintf(file,
            ", \"offset\": %" PRIuPTR ", \"sends\": %" PRIu64 ", \"send_bytes\": %" PRIu64
            ", \"send_elements\": %" PRIu64 ", \"first_send_ns\": %" PRId64
            ", \"last_send_ns\": %" PRId64,
            offset, r->sends, r->send_bytes, r->send_elements, r->first_send_ns, r->last_send_ns);
    write_sum(file, "produce", &r->produce);
    write_sum(file, "after_produce", &r->after);
    write_sum(file, "consume", &r->consume);
    write_sum(file, "before_consume", &r->before);
    fprintf(file, "}");
}

void ixa_regions_end(int64_t compute_ns)
{
    char path[PATH_MAX];
    if (!region_count)
        return;
    snprintf(path, sizeof path, "%s/regions-%d.json", directory, rank);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "imbrex: rank %d: %s cannot be written\n", rank, path);
        return;
    }
    fprintf(file,
            "{\"schema_version\": 1, \"rank\": %d, \"compute_ns\": %" PRId64
            ", \"dropped\": %" PRIu64 ", \"regions\": [",
            rank, compute_ns, mistakes);
    for (int i = 0; i < region_count; i++) {
        fprintf(file, "%s\n", i ? "," : "");
        write_region(file, &regions[i]);
    }
    fprintf(file, "\n]}\n");
    if (fclose(file) != 0)
        fprintf(stderr, "imbrex: rank %d: %s is not complete\n", rank, path);
}
