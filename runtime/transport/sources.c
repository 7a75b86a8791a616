/* What a source sees is found out, not assumed: a few messages and collectives at the start say
 * whether it is told of all their bytes. docs/reference/events.md says what follows from it. */
#include "transport/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/warnings.h"
#include "generated/operations.h"
#include "transport/data_operations.h"
#include "transport/event_source.h"

/* What was chosen. */
static struct {
    const char *in_use[4]; /* by enum ix_path */
    const char *reason;
    uint8_t is_data[IX_OP_COUNT], one_sided[IX_OP_COUNT];
} state = {.in_use = {"call", "call", "call", "call"}};

const char *ix_source_of(int path)
{
    return state.in_use[path];
}

const char *ix_sources_reason(void)
{
    return state.reason;
}

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
static int messages_seen(const ix_event_source *source, MPI_Comm all, char *out, char *in, int to,
                         int from)
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
static int collectives_seen(const ix_event_source *source, MPI_Comm all, char *out, char *in)
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

ix_self_address ix_find_self_address(const ix_event_source *source, MPI_Comm all)
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
    return (ix_self_address){.known = low.sends > 0,
                             .endpoint = low.endpoint,
                             .tag_bits = low.sends && high.sends ? low.tag ^ high.tag : 0};
}

int ix_only_path(uint32_t path_bits)
{
    return path_bits >> IX_PATH_INTER & 1 ? IX_PATH_INTER : IX_PATH_INTRA;
}

/* Why the source is not used, or NULL when it is. */
static const char *try_source(const ix_event_source *source, MPI_Comm all)
{
    static char why[64];
    int rank, ranks, next, before;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    if (!everybody(all, source->probe(all)))
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
    ix_sort_operations(state.is_data, state.one_sided);
    uint32_t bits = (uint32_t)seen_on_node << IX_PATH_INTRA | (uint32_t)seen_between
                                                                  << IX_PATH_INTER;
    if (source->not_both && seen_on_node && seen_between)
        return source->not_both;
    ix_observe(&source->events);
    source->use(source, &(ix_source_use){.all = all,
                                         .path_bits = bits,
                                         .is_data = state.is_data,
                                         .one_sided = state.one_sided});
    for (int path = IX_PATH_INTRA; path <= IX_PATH_INTER; path++)
        if (bits >> path & 1)
            state.in_use[path] = source->name;
    ix_leave_to_source(bits);
    return NULL;
}

/* What the user wants: AUTO takes what works, and is silent about it. (`imbrex run` asks for it.)
 */
enum { CALLS = -2, AUTO = -1 };

static const ix_event_source *const sources[] = {
#ifndef IMBREX_DIRECT
#define SOURCE(name) &ix_##name##_source,
#include "transport/sources.def"
#undef SOURCE
#endif
    NULL};

enum { SOURCES = sizeof sources / sizeof *sources - 1 };

/* CALLS, AUTO or the number of a source. */
static int wish(void)
{
    const char *events = getenv("IMBREX_EVENTS");
    if (!events || !strcmp(events, "call"))
        return CALLS;
    for (int i = 0; i < SOURCES; i++)
        if (!strcmp(events, sources[i]->name))
            return i;
    return AUTO;
}

void ix_sources_start(MPI_Comm all)
{
    int rank, wanted = wish(), used;
    PMPI_Comm_rank(all, &rank);
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, all);
    used = wanted == CALLS;
    for (int i = 0; i < SOURCES && !used; i++) {
        if (wanted != AUTO && wanted != i)
            continue;
        const char *why = try_source(sources[i], all);
        used = !why;
        if (!state.reason || why != sources[i]->absent) /* what was there says more */
            state.reason = why;
    }
    if (used)
        state.reason = NULL;
    if (state.reason && rank == 0 && wanted >= 0)
        ix_warn("no events from %s: %s: the calls are the source", sources[wanted]->title,
                state.reason);
}
