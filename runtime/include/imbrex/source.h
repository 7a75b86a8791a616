/* For sources of events that are linked into a program, such as the wrappers of ARMCI: what they
 * ask of the Imbrex runtime that `imbrex run` loads into the same process. Without the runtime
 * imbrex_source_find returns null, and such a source does nothing.
 *
 *     const imbrex_source *imbrex = imbrex_source_find();
 *     void *call = imbrex->enter(operation, __builtin_return_address(0));
 *     ... the library's own function ...
 *     imbrex->move(call, IMBREX_PUT, world_rank, bytes, IMBREX_LOCAL);
 *     imbrex->leave(call);
 *
 * MPI calls between enter and leave are not counted once more. Sizes are bytes of user data. */
#ifndef IMBREX_SOURCE_H
#define IMBREX_SOURCE_H

#include <stdint.h>

#include "imbrex.h"

#define IMBREX_SOURCE_VERSION 1
#define IMBREX_EVERYBODY (-1)

/* One-sided: from this process, or to it. */
enum imbrex_direction { IMBREX_PUT = 0, IMBREX_GET = 1 };

/* What is known when a transfer ends. */
enum imbrex_end {
    IMBREX_DONE = 0,  /* it is over on both sides */
    IMBREX_LOCAL = 1, /* the buffer may be used again; data may still be leaving */
};

typedef struct imbrex_source {
    uint32_t version;
    /* The number of an operation by its name; 0: the runtime does not know it. */
    uint32_t (*operation)(const char *name);
    /* Around each call; null where nothing is measured. All others take it, null included. */
    void *(*enter)(uint32_t operation, const void *caller);
    void (*leave)(void *call);
    /* A transfer to or from a rank of MPI_COMM_WORLD that begins and ends in this call. */
    void (*move)(void *call, enum imbrex_direction direction, int rank, int64_t bytes,
                 enum imbrex_end end);
    /* One that this call begins, as a member of a group. */
    void (*begin)(void *call, uint64_t group, enum imbrex_direction direction, int rank,
                  int64_t bytes);
    /* All of a group with this rank, or with IMBREX_EVERYBODY, are over. */
    void (*finish)(void *call, uint64_t group, int rank, enum imbrex_end end);
    /* Memory that others may read and write unseen: +1 when it is made, -1 when it is gone. */
    void (*expose)(void *call, int delta);
} imbrex_source;

typedef const imbrex_source *imbrex_source_call(uint32_t version);

/* Null: the runtime is not in this process, or is another version. */
static inline const imbrex_source *imbrex_source_find(void)
{
#if defined(__GNUC__) && defined(__ELF__)
    imbrex_source_call *table = NULL;
    void *address =
        imbrex_private_dlsym != NULL ? imbrex_private_dlsym(NULL, "imbrex_source_table") : NULL;
    memcpy(&table, &address, sizeof table);
    return table != NULL ? table(IMBREX_SOURCE_VERSION) : NULL;
#else
    return NULL;
#endif
}

#endif
