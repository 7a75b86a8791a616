/* What a source sees is found out, not assumed: a few messages and collectives at the start say
 * whether it is told of all their bytes. docs/events.md says what follows from it. */
#include "events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "job.h"
#include "kinds.h"
#include "ofi.h"
#include "onesided.h"
#include "operations.h"
#include "peruse.h"
#include "selves.h"
#include "ucx.h"

static const char *sources[4] = {"call", "call", "call", "call"};

static const char *reason;

#ifndef IMBREX_DIRECT
int ix_events_are_told;
#endif

const char *ix_events_of(int path)
{
    return sources[path];
}

const char *ix_events_reason(void)
{
    return reason;
}

#ifndef IMBREX_DIRECT

static uint8_t is_data[IX_OP_COUNT], one_sided[IX_OP_COUNT];

/* A source, as it is tried out. */
typedef struct source {
    const char *name, *title;
    const char *absent; /* what to say where this MPI does not have it */
    int (*present)(MPI_Comm all);
    void (*watch)(ix_seen *seen);
    /* Take the messages of these paths (bit 1 << path). NULL, or why that cannot be. */
    const char *(*use)(const struct source *source, MPI_Comm all, uint32_t path_bits);
} source;

/* Whether all ranks say yes. */
static int everybody(MPI_Comm all, int yes)
{
    int result = 0;
    PMPI_Allreduce(&yes, &result, 1, MPI_INT, MPI_MIN, all);
    return result;
}

#define SMALL 24
#define LARGE (1 << 18)

/* Two messages to `to` and two from `from`; whether all their bytes were seen, and no others. */
static int messages_seen(const source *source, MPI_Comm all, char *out, char *in, int to, int from)
{
    static const int sizes[] = {SMALL, LARGE};
    ix_seen seen = {0};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    source->watch(&seen);
    for (int i = 0; i < 2; i++) {
        PMPI_Irecv(in + i * SMALL, sizes[i], MPI_BYTE, from, i, all, &requests[2 * i]);
        PMPI_Isend(out + i * SMALL, sizes[i], MPI_BYTE, to, i, all, &requests[2 * i + 1]);
    }
    source->watch(NULL);
    PMPI_Waitall(4, requests, statuses);
    return seen.sent == SMALL + LARGE && seen.received == SMALL + LARGE;
}

/* Whether every rank's part of a small and a large collective is seen. */
static int collectives_seen(const source *source, MPI_Comm all, char *out, char *in)
{
    static const int sizes[] = {SMALL, LARGE};
    int fine = 1;
    for (int i = 0; i < 2; i++) {
        int bytes = sizes[i];
        ix_seen reduced = {0}, spread = {0};
        memset(out, 0, (size_t)bytes);
        source->watch(&reduced);
        PMPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, all);
        source->watch(&spread);
        PMPI_Bcast(out, bytes, MPI_BYTE, 0, all);
        source->watch(NULL);
        fine = fine && reduced.sent >= bytes && reduced.received >= bytes &&
               spread.sent + spread.received >= bytes;
    }
    return fine;
}

/* The neighbours of this rank on a ring through its own node; itself if it is alone there. */
static void ring_on_node(int rank, int ranks, int *next, int *before)
{
    *next = *before = rank;
    for (int i = 1; i < ranks; i++) {
        int up = (rank + i) % ranks, down = (rank + ranks - i) % ranks;
        if (*next == rank && ix_world_paths[up] == IX_PATH_INTRA)
            *next = up;
        if (*before == rank && ix_world_paths[down] == IX_PATH_INTRA)
            *before = down;
    }
}

/* Of messages to itself: the endpoint or address, and the bits of the library's tag that hold
 * MPI's. */
typedef struct self {
    int known;
    uint64_t endpoint, tag_bits;
} self;

static self learn_self(const source *source, MPI_Comm all)
{
    int *upper = NULL, found = 0, rank;
    char out[SMALL] = {0}, in[2 * SMALL];
    ix_seen low = {0}, high = {0};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_get_attr(all, MPI_TAG_UB, (void *)&upper, &found);
    int tags[2] = {0, found && upper ? *upper : 32767};
    PMPI_Irecv(in, SMALL, MPI_BYTE, rank, tags[0], all, &requests[0]);
    PMPI_Irecv(in + SMALL, SMALL, MPI_BYTE, rank, tags[1], all, &requests[1]);
    source->watch(&low);
    PMPI_Isend(out, SMALL, MPI_BYTE, rank, tags[0], all, &requests[2]);
    source->watch(&high);
    PMPI_Isend(out, SMALL, MPI_BYTE, rank, tags[1], all, &requests[3]);
    source->watch(NULL);
    PMPI_Waitall(4, requests, statuses);
    return (self){.known = low.sends > 0,
                  .endpoint = low.endpoint,
                  .tag_bits = low.sends && high.sends ? low.tag ^ high.tag : 0};
}

static int ucx_present(MPI_Comm all)
{
    (void)all;
    return ix_ucx_present();
}

static int one_path(uint32_t path_bits)
{
    return path_bits >> IX_PATH_INTER & 1 ? IX_PATH_INTER : IX_PATH_INTRA;
}

static const char *use_ucx(const source *source, MPI_Comm all, uint32_t path_bits)
{
    self self = learn_self(source, all);
    if (path_bits & (path_bits - 1))
        return "UCX carries both paths, and does not tell from which a message comes";
    ix_ucx_use(one_path(path_bits), self.known ? (void *)(uintptr_t)self.endpoint : NULL,
               self.tag_bits, is_data);
    ix_onesided_use(one_path(path_bits), one_sided);
    return NULL;
}

static int ofi_present(MPI_Comm all)
{
    (void)all;
    return ix_ofi_present();
}

static const char *use_ofi(const source *source, MPI_Comm all, uint32_t path_bits)
{
    self self = learn_self(source, all);
    if (path_bits & (path_bits - 1))
        return "libfabric carries both paths, and does not tell from which a message comes";
    ix_ofi_use(one_path(path_bits), self.known, self.endpoint, self.tag_bits, is_data);
    ix_onesided_use(one_path(path_bits), one_sided);
    return NULL;
}

static const char *use_peruse(const source *source, MPI_Comm all, uint32_t path_bits)
{
    (void)source, (void)all;
    ix_peruse_use(path_bits, is_data);
    ix_events_are_told = 1;
    return NULL;
}

static const source ucx = {
    "ucx",       "UCX",        "this MPI does not use UCX's tagged messages here",
    ucx_present, ix_ucx_watch, use_ucx};
static const source ofi = {
    "ofi",       "libfabric",  "this MPI does not use libfabric's tagged messages here",
    ofi_present, ix_ofi_watch, use_ofi};
static const source peruse = {
    "peruse",          "PERUSE",        "this MPI is built without PERUSE",
    ix_peruse_present, ix_peruse_watch, use_peruse};

/* Why the source is not used, or NULL when it is. */
static const char *try_source(const source *source, MPI_Comm all)
{
    static char why[64];
    int rank, ranks, next, before;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    if (!everybody(all, source->present(all)))
        return source->absent;
    char *out = calloc(2, SMALL + LARGE), *in = out ? out + SMALL + LARGE : NULL;
    if (!everybody(all, out != NULL)) {
        free(out);
        return "no memory to find out what it carries";
    }
    ring_on_node(rank, ranks, &next, &before);
    int on_node = next == rank ? -1 : messages_seen(source, all, out, in, next, before);
    int some_on_node = !everybody(all, on_node < 0);
    int seen_on_node = everybody(all, on_node != 0) && some_on_node;

    /* Rank 0 and the first rank elsewhere stand for all pairs of nodes. */
    int elsewhere = 0;
    for (int i = ranks - 1; rank == 0 && i > 0; i--)
        if (ix_world_paths[i] == IX_PATH_INTER)
            elsewhere = i;
    PMPI_Bcast(&elsewhere, 1, MPI_INT, 0, all);
    int between = 1, peer = rank ? 0 : elsewhere;
    if (elsewhere && (rank == 0 || rank == elsewhere))
        between = messages_seen(source, all, out, in, peer, peer);
    int seen_between = everybody(all, between) && elsewhere;
    int collectives = everybody(all, collectives_seen(source, all, out, in));
    free(out);
    snprintf(why, sizeof why, "%s bypass %s",
             seen_on_node || seen_between ? "collectives" : "messages", source->title);
    if ((!seen_on_node && !seen_between) || !collectives)
        return why;
    ix_sort_kinds(is_data, one_sided);
    uint32_t bits = (uint32_t)seen_on_node << IX_PATH_INTRA | (uint32_t)seen_between
                                                                  << IX_PATH_INTER;
    const char *refusal = source->use(source, all, bits);
    if (refusal)
        return refusal;
    for (int path = IX_PATH_INTRA; path <= IX_PATH_INTER; path++)
        if (bits >> path & 1)
            sources[path] = source->name;
    ix_leave_to_source(bits);
    return NULL;
}

/* What the user wants: AUTO takes what works, and is silent about it. (`imbrex run` asks for it.)
 */
enum { CALLS = -2, AUTO = -1 };

static const source *const all_sources[] = {&ucx, &ofi, &peruse};

enum { SOURCES = sizeof all_sources / sizeof *all_sources };

/* CALLS, AUTO or the number of a source. */
static int wish(void)
{
    const char *events = getenv("IMBREX_EVENTS");
    if (!events || !strcmp(events, "call"))
        return CALLS;
    for (int i = 0; i < SOURCES; i++)
        if (!strcmp(events, all_sources[i]->name))
            return i;
    return AUTO;
}

void ix_events_start(MPI_Comm all)
{
    int rank, wanted = wish(), used;
    PMPI_Comm_rank(all, &rank);
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, all);
    used = wanted == CALLS;
    for (int i = 0; i < SOURCES && !used; i++) {
        if (wanted != AUTO && wanted != i)
            continue;
        const char *why = try_source(all_sources[i], all);
        used = !why;
        if (!reason || why != all_sources[i]->absent) /* what was there says more */
            reason = why;
    }
    if (used)
        reason = NULL;
    if (reason && rank == 0 && wanted >= 0)
        ix_warn("no events from %s: %s: the calls are the source", all_sources[wanted]->title,
                reason);
}

void ix_events_met(ix_comm *c)
{
    ix_peruse_met(c);
}

void ix_events_freed(void)
{
    ix_selves_age();
}

void ix_events_listen(MPI_Comm comm, const ix_comm *c)
{
    ix_peruse_listen(comm, c);
}

void ix_events_completed(ix_thread *t, uint64_t request, int64_t bytes, int path)
{
    ix_peruse_completed(t, request, bytes, path);
}

void ix_events_received(ix_thread *t, const ix_transfer *transfer)
{
    ix_peruse_received(t, transfer->bytes, transfer->path);
}

void ix_events_lost(ix_thread *t, uint64_t request)
{
    ix_peruse_lost(t, request);
}

int ix_events_rma_begun(ix_thread *t, uint64_t group, int32_t target, const ix_transfer *transfer)
{
    return ix_onesided_begun(t, group, target, transfer);
}

int ix_events_rma_over(ix_thread *t, const ix_transfer *transfer)
{
    return ix_onesided_over(t, transfer);
}

void ix_events_rma_requested(ix_thread *t, uint64_t group, int32_t target,
                             const ix_transfer *transfer, uint64_t handle)
{
    ix_onesided_requested(t, group, target, transfer, handle);
}

void ix_events_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack)
{
    ix_onesided_closed(t, group, target, slack);
}

#else

void ix_events_start(MPI_Comm all)
{
    (void)all;
}

void ix_events_met(ix_comm *c)
{
    (void)c;
}

void ix_events_freed(void)
{
}

void ix_events_listen(MPI_Comm comm, const ix_comm *c)
{
    (void)comm, (void)c;
}

void ix_events_completed(ix_thread *t, uint64_t request, int64_t bytes, int path)
{
    (void)t, (void)request, (void)bytes, (void)path;
}

void ix_events_received(ix_thread *t, const ix_transfer *transfer)
{
    (void)t, (void)transfer;
}

void ix_events_lost(ix_thread *t, uint64_t request)
{
    (void)t, (void)request;
}

int ix_events_rma_begun(ix_thread *t, uint64_t group, int32_t target, const ix_transfer *transfer)
{
    (void)t, (void)group, (void)target, (void)transfer;
    return 0;
}

int ix_events_rma_over(ix_thread *t, const ix_transfer *transfer)
{
    (void)t, (void)transfer;
    return 0;
}

void ix_events_rma_requested(ix_thread *t, uint64_t group, int32_t target,
                             const ix_transfer *transfer, uint64_t handle)
{
    (void)t, (void)group, (void)target, (void)transfer, (void)handle;
}

void ix_events_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack)
{
    (void)t, (void)group, (void)target, (void)slack;
}

#endif
