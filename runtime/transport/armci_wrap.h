/* What the wrappers of ARMCI are written in: the runtime, if there is one, and the transfers that
 * it is told of. Everything is static: armci.c alone includes it, and users compile that by itself.
 */
#ifndef IMBREX_TRANSPORT_ARMCI_WRAP_H
#define IMBREX_TRANSPORT_ARMCI_WRAP_H

#include <armci.h>
#include <stdlib.h>

#include "imbrex/source.h"

/* The runtime is found by name in the running process, which may have none. */

#define CALL(name) OP_##name,
enum operation {
#include "armci.def"
    OP_COUNT
};
#undef CALL
#define CALL(name) "ARMCI_" #name,
static const char *const names[OP_COUNT] = {
#include "armci.def"
};
#undef CALL

static const imbrex_source *runtime;
static uint32_t numbers[OP_COUNT];
static int *world_ranks; /* by ARMCI's process number; null: the same */

static void find_runtime(void)
{
    const imbrex_source *found = imbrex_source_find();
    for (int i = 0; found && i < OP_COUNT; i++)
        numbers[i] = found->operation(names[i]);
    runtime = found;
}

static int rank_of(int proc)
{
    return world_ranks ? world_ranks[proc] : proc;
}

/* Processes are numbered in `comm`, which need not be MPI_COMM_WORLD. */
static void number_processes(MPI_Comm comm)
{
    MPI_Group mine, world;
    int size;
    PMPI_Comm_size(comm, &size);
    int *own = malloc((size_t)size * sizeof *own);
    world_ranks = malloc((size_t)size * sizeof *world_ranks);
    if (!own || !world_ranks) {
        runtime = NULL;
    } else {
        for (int i = 0; i < size; i++)
            own[i] = i;
        PMPI_Comm_group(comm, &mine);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Group_translate_ranks(mine, size, own, world, world_ranks);
        PMPI_Group_free(&mine);
        PMPI_Group_free(&world);
    }
    free(own);
}

#define ENTER(name)                                                                                \
    void *call = runtime ? runtime->enter(numbers[OP_##name], __builtin_return_address(0)) : NULL
#define LEAVE()                                                                                    \
    do {                                                                                           \
        if (call)                                                                                  \
            runtime->leave(call);                                                                  \
    } while (0)

/* Blocking: a put's data may still be leaving when the call returns, a get's is there. */
static void moved(void *call, enum imbrex_direction direction, int proc, int64_t bytes)
{
    if (call)
        runtime->move(call, direction, rank_of(proc), bytes,
                      direction == IMBREX_PUT ? IMBREX_LOCAL : IMBREX_DONE);
}

/* Handles with transfers under way, of this thread. Fence names a process and not a handle, so it
 * asks all of them. What finds no room counts as begun without a handle. */
#define HANDLES 256

static __thread armci_hdl_t *handles[HANDLES]; /* no gaps */
static __thread int handle_count;

static armci_hdl_t *keep_handle(armci_hdl_t *handle)
{
    for (int i = 0; i < handle_count; i++)
        if (handles[i] == handle)
            return handle;
    if (handle_count == HANDLES)
        return NULL;
    return handles[handle_count++] = handle;
}

static void drop_handle(const armci_hdl_t *handle)
{
    for (int i = 0; i < handle_count; i++)
        if (handles[i] == handle) {
            handles[i] = handles[--handle_count];
            return;
        }
}

/* No window or request has the address of a handle, and a handle is made of ints: its lowest bit
 * is free. */
static uint64_t group_of(const armci_hdl_t *handle, enum imbrex_direction direction)
{
    return (uint64_t)(uintptr_t)handle | (direction == IMBREX_GET);
}

static void begun(void *call, enum imbrex_direction direction, int proc, int64_t bytes,
                  armci_hdl_t *handle)
{
    if (!call)
        return;
    if (handle)
        handle = keep_handle(handle);
    runtime->begin(call, group_of(handle, direction), direction, rank_of(proc), bytes);
}

/* All puts and accumulates to `rank` have reached it. Gets are waited for, not fenced. */
static void fenced(void *call, int rank)
{
    if (!call)
        return;
    runtime->finish(call, group_of(NULL, IMBREX_PUT), rank, IMBREX_DONE);
    for (int i = 0; i < handle_count; i++)
        runtime->finish(call, group_of(handles[i], IMBREX_PUT), rank, IMBREX_DONE);
}

static void waited_for(void *call, const armci_hdl_t *handle, int rank)
{
    runtime->finish(call, group_of(handle, IMBREX_PUT), rank, IMBREX_LOCAL);
    runtime->finish(call, group_of(handle, IMBREX_GET), rank, IMBREX_DONE);
}

static void waited(void *call, int rank)
{
    if (!call)
        return;
    waited_for(call, NULL, rank);
    for (int i = 0; i < handle_count; i++)
        waited_for(call, handles[i], rank);
    if (rank == IMBREX_EVERYBODY)
        handle_count = 0;
}

static int64_t strided_bytes(const int count[], int levels)
{
    int64_t bytes = 1;
    for (int i = 0; i <= levels; i++)
        bytes *= count[i];
    return bytes;
}

static int64_t vector_bytes(const armci_giov_t *vectors, int length)
{
    int64_t bytes = 0;
    for (int i = 0; i < length; i++)
        bytes += (int64_t)vectors[i].bytes * vectors[i].ptr_array_len;
    return bytes;
}

#endif
