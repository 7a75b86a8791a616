#include "access/guard.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/messages.h"
#include "generated/operations.h"

enum { FINDINGS = 256 };

struct ixa_held {
    ixa_held *next, *previous;
    const void *site;
    uint32_t operation;
    uint8_t is_receive;
    uint8_t accused; /* an access to it has been reported */
    int peer, tag;
    ixa_ranges ranges;
    uint64_t sum; /* of a send's bytes */
};

/* How a forbidden access was noticed. */
enum how { BY_ACCESS, BY_CALL, BY_CHECKSUM, NEVER_COMPLETED };
static const char *const how_names[] = {"access", "call", "checksum", "never-completed"};

typedef struct finding {
    enum how how;
    const void *code; /* the access, or the call's site; NULL if it is not known */
    uint32_t call;
    uint8_t is_write, is_receive;
    const void *site;
    uint32_t operation;
    int peer, tag;
    size_t offset, bytes; /* of the first such access in the message */
    uint64_t count;
} finding_t;

static ixa_memory_t *memory;
static int rank;
static char path[PATH_MAX];
static ixa_held *all;
static finding_t findings[FINDINGS];
static size_t finding_count;
static uint64_t more_findings, transfers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_text(FILE *file, const char *text)
{
    for (const char *c = text; c && *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', file);
        if ((unsigned char)*c >= 0x20)
            fputc(*c, file);
    }
}

static void write_place(FILE *file, const char *name, const void *code)
{
    Dl_info info = {0};
    uintptr_t offset = (uintptr_t)code;
    if (code && dladdr(code, &info))
        offset -= (uintptr_t)info.dli_fbase;
    fprintf(file, "\"%s\": {\"image\": \"", name);
    write_text(file, info.dli_fname);
    fprintf(file, "\", \"offset\": %" PRIuPTR "}", offset);
}

/* Anew with each new finding: what comes later may be the crash that it foretells. */
static void write_findings(int finished)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "imbrex: rank %d: %s cannot be written\n", rank, path);
        return;
    }
    fprintf(file,
            "{\"schema_version\": 1, \"rank\": %d, \"exact\": %s, \"finished\": %s, "
            "\"transfers\": %" PRIu64 ", \"not_watched\": %" PRIu64 ", \"more_findings\": %" PRIu64
            ", \"unseen\": \"",
            rank, memory->exact && !*memory->unseen ? "true" : "false", finished ? "true" : "false",
            transfers, ixa_dropped, more_findings);
    write_text(file, memory->unseen);
    fprintf(file, "\", \"findings\": [");
    for (size_t i = 0; i < finding_count; i++) {
        const finding_t *f = &findings[i];
        fprintf(file, "%s\n{\"how\": \"%s\", \"access\": \"%s\", ", i ? "," : "", how_names[f->how],
                f->is_write ? "write" : "read");
        write_place(file, "code", f->code);
        fprintf(file, ", \"call\": \"%s\", \"buffer\": \"%s\", \"operation\": \"%s\", ",
                ix_operation_names[f->call], f->is_receive ? "receive" : "send",
                ix_operation_names[f->operation]);
        write_place(file, "site", f->site);
        fprintf(file,
                ", \"peer\": %d, \"tag\": %d, \"offset\": %zu, \"bytes\": %zu, \"count\": %" PRIu64
                "}",
                f->peer, f->tag, f->offset, f->bytes, f->count);
    }
    fprintf(file, "\n]}\n");
    if (fclose(file) != 0)
        fprintf(stderr, "imbrex: rank %d: %s is not complete\n", rank, path);
}

static void report(ixa_held *held, enum how how, const void *code, uint32_t call, int is_write,
                   size_t offset, size_t bytes)
{
    held->accused = 1;
    for (size_t i = 0; i < finding_count; i++) {
        finding_t *f = &findings[i];
        if (f->how == how && f->code == code && f->is_write == is_write && f->site == held->site &&
            f->is_receive == held->is_receive) {
            f->count++;
            return;
        }
    }
    if (finding_count == FINDINGS) {
        more_findings++;
        return;
    }
    findings[finding_count++] = (finding_t){.how = how,
                                            .code = code,
                                            .call = call,
                                            .is_write = (uint8_t)is_write,
                                            .is_receive = held->is_receive,
                                            .site = held->site,
                                            .operation = held->operation,
                                            .peer = held->peer,
                                            .tag = held->tag,
                                            .offset = offset,
                                            .bytes = bytes,
                                            .count = 1};
    write_findings(0);
}

/* The transfer that forbids the access, and where in its message the access begins. */
static ixa_held *accused(uintptr_t address, size_t size, int is_write, size_t *offset)
{
    for (ixa_held *held = all; held; held = held->next) {
        if (!is_write && !held->is_receive)
            continue;
        *offset = 0;
        for (size_t i = 0; i < held->ranges.count; i++) {
            const ixa_range *r = &held->ranges.range[i];
            if (address < r->address + r->bytes && r->address < address + size) {
                *offset += address > r->address ? address - r->address : 0;
                return held;
            }
            *offset += r->bytes;
        }
    }
    return NULL;
}

/* What MPI itself runs (a reduction's own operation) touches buffers as it must. */
static void forbidden(uintptr_t address, size_t size, int is_write, const void *code)
{
    if (ix_self && ix_depth(ix_self) > 0)
        return;
    size_t offset;
    pthread_mutex_lock(&lock);
    ixa_held *held = accused(address, size, is_write, &offset);
    if (held)
        report(held, BY_ACCESS, code, 0, is_write, offset, size);
    pthread_mutex_unlock(&lock);
}

void ixa_guard_start(ixa_memory_t *shadow, int own_rank, const char *directory)
{
    memory = shadow;
    rank = own_rank;
    snprintf(path, sizeof path, "%s/guard-%d.json", directory, rank);
    memory->forbidden = forbidden;
}

static uint64_t sum_of(const ixa_ranges *ranges)
{
    uint64_t sum = ranges->bytes;
    for (size_t i = 0; i < ranges->count; i++) {
        const unsigned char *at = (const unsigned char *)ranges->range[i].address;
        size_t left = ranges->range[i].bytes;
        for (uint64_t eight; left >= sizeof eight; at += sizeof eight, left -= sizeof eight) {
            memcpy(&eight, at, sizeof eight);
            sum = (sum ^ eight) * 0x9e3779b97f4a7c15u;
            sum ^= sum >> 32;
        }
        for (; left; left--)
            sum = (sum ^ *at++) * 0x100000001b3u;
    }
    return sum;
}

uint64_t ixa_guard_sum(const ix_buffer *buffer)
{
    ixa_ranges ranges;
    if (buffer->is_receive || ixa_ranges_of(buffer, &ranges))
        return 0;
    uint64_t sum = sum_of(&ranges);
    free(ranges.range);
    return sum;
}

void ixa_guard_check(const void *site, uint32_t operation, const ix_buffer *buffer)
{
    ixa_ranges ranges;
    if (!all || ixa_ranges_of(buffer, &ranges))
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ranges.count; i++) {
        const ixa_range *r = &ranges.range[i];
        size_t offset;
        if (!memory->holds(r->address, r->bytes, buffer->is_receive))
            continue;
        ixa_held *held = accused(r->address, r->bytes, buffer->is_receive, &offset);
        if (held)
            report(held, BY_CALL, site, operation, buffer->is_receive, offset, r->bytes);
        break;
    }
    pthread_mutex_unlock(&lock);
    free(ranges.range);
}

ixa_held *ixa_guard_hold(const void *site, uint32_t operation, const ix_buffer *buffer,
                         uint64_t sum)
{
    ixa_held *held = calloc(1, sizeof *held);
    if (!held || ixa_ranges_of(buffer, &held->ranges)) {
        ixa_dropped++;
        free(held);
        return NULL;
    }
    if (held->ranges.count == 0) {
        free(held->ranges.range);
        free(held);
        return NULL;
    }
    held->site = site;
    held->operation = operation;
    held->is_receive = buffer->is_receive;
    held->peer = buffer->peer;
    held->tag = buffer->tag;
    held->sum = sum;
    pthread_mutex_lock(&lock);
    transfers++;
    for (size_t i = 0; i < held->ranges.count; i++)
        if (memory->hold(held->ranges.range[i].address, held->ranges.range[i].bytes,
                         held->is_receive, 1))
            ixa_dropped++;
    held->next = all;
    if (all)
        all->previous = held;
    all = held;
    pthread_mutex_unlock(&lock);
    return held;
}

void ixa_guard_release(ixa_held *held, enum ixa_ending ending)
{
    if (!held)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < held->ranges.count; i++)
        memory->hold(held->ranges.range[i].address, held->ranges.range[i].bytes, held->is_receive,
                     -1);
    if (held->previous)
        held->previous->next = held->next;
    else
        all = held->next;
    if (held->next)
        held->next->previous = held->previous;
    /* Of a released request the end is not known, and its memory may be gone. */
    if (ending == IXA_NEVER)
        report(held, NEVER_COMPLETED, NULL, 0, held->is_receive, 0, held->ranges.bytes);
    else if (ending == IXA_COMPLETE && !held->is_receive && !held->accused &&
             sum_of(&held->ranges) != held->sum)
        report(held, BY_CHECKSUM, NULL, 0, 1, 0, held->ranges.bytes);
    pthread_mutex_unlock(&lock);
    free(held->ranges.range);
    free(held);
}

void ixa_guard_end(void)
{
    memory->forbidden = NULL;
    write_findings(1);
}
