/* The buffers of an MPI call, as wrappers tell them to whoever watches memory.
 *
 * A generated wrapper of a call with buffers is:
 *
 *     ix_watched_call *ix_w = ix_observed_enter(ix_t, 0);
 *     if (ix_w) { ix_add_one(ix_w, ...); ix_buffers->before(ix_w); }
 *     int rc = PMPI_Irecv(...);
 *     if (ix_w) ix_buffers->begun(ix_w, *request, request); */
#ifndef IMBREX_MPI_BUFFERS_H
#define IMBREX_MPI_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"
#include "mpi/comms.h"
#include "mpi/types.h"

/* The peer of a collective without a root; no library has such a rank. */
#define IX_NO_PEER (-1000)

/* What MPI reads (a send) or writes (a receive) in one call: `count` items of `type`, or `blocks`
 * of them by the lists of a vector collective. */
typedef struct ix_buffer {
    const void *address;
    MPI_Datatype type;
    int64_t count;
    int32_t blocks;                   /* 0: no lists; without counts, each of `count` items */
    uint8_t count_bytes, place_bytes; /* width of a number in the lists */
    uint8_t by_type;                  /* lists of types, and places in bytes */
    uint8_t fortran;                  /* the types are Fortran's handles */
    uint8_t is_receive;
    uint8_t collective;
    uint8_t one_sided;                   /* nobody receives or sends at the other end */
    uint8_t in_place;                    /* a send whose bytes the same call receives into */
    const void *counts, *places, *types; /* places NULL: one block behind the other */
    uint64_t missing;                    /* bits of the blocks that have no neighbour */
    int peer, tag;                       /* of a collective: the root or IX_NO_PEER, and 0 */
    MPI_Comm comm;
} ix_buffer;

/* The watcher's own state of the call in progress. */
typedef struct ix_watched_call ix_watched_call;

/* What a watcher of memory is told of an outermost call. All members are needed. */
typedef struct ix_buffer_observer {
    /* Before the library's function: the call; its buffers; that they are all named. A call that
     * polls may turn out to have found nothing. NULL: this one need not be told. */
    ix_watched_call *(*enter)(const ix_thread *t, int polls);
    /* It is a collective on `c`. */
    void (*among)(const ix_watched_call *call, const ix_comm *c);
    void (*add)(ix_watched_call *call, const ix_buffer *buffer);
    void (*before)(ix_watched_call *call);
    /* Persistent requests are about to start. `where`: the user's first handle, the next `step`
     * bytes behind it. */
    void (*starting)(ix_watched_call *call, int count, const MPI_Request *requests,
                     const void *where, size_t step);
    /* The call packs its buffer into `packed`, or (a receive) unpacks it from there. */
    void (*packing)(ix_watched_call *call, const ix_buffer *buffer, const void *packed);

    /* After it, one of these. The buffers were of this call alone, which received what the status
     * says (NULL: nothing, or it failed); */
    void (*done)(ix_watched_call *call, const MPI_Status *status);
    /* a request stands for them, whose handle the user keeps at `where`; */
    void (*begun)(ix_watched_call *call, MPI_Request request, const void *where);
    /* or a persistent request, which does not start yet; */
    void (*planned)(ix_watched_call *call, MPI_Request request);
    /* or a window; */
    void (*begun_on)(ix_watched_call *call, MPI_Win window, int target);
    /* `count` requests, as they were before the call, are complete: those at `indices`, or all
     * (NULL), with a status for each in the same order (NULL: the call failed). `found`: of a call
     * that polls, whether it found what it asked for. */
    void (*complete)(ix_watched_call *call, int found, int count, const MPI_Request *requests,
                     const void *where, size_t step, const int *indices,
                     const MPI_Status *statuses);
    /* What was begun on the window is over, for one target or all (IX_ALL). */
    void (*complete_on)(ix_watched_call *call, MPI_Win window, int target);
    /* A look at requests that stay shows that these `count` are complete. */
    void (*seen)(ix_watched_call *call, int count, const MPI_Request *requests, const int *indices);
    /* Perhaps nothing moves; the completion follows. */
    void (*cancelled)(ix_watched_call *call, MPI_Request request, const void *where);
    /* The end of the request will not be seen. */
    void (*freed)(ix_watched_call *call, MPI_Request request, const void *where);
    /* The call of `packing` is over; `done`: it did not fail. */
    void (*packed)(ix_watched_call *call, int done);
    /* A call without buffers. */
    void (*passed)(ix_watched_call *call, int found);
} ix_buffer_observer;

/* The one that watches, while ix_observed has IX_TELL_BUFFERS: observers.h. */
extern IX_HIDDEN const ix_buffer_observer *ix_buffers;

/* A buffer of `count` items; `how`: of these. */
enum {
    IX_BUFFER_SENT = 0,
    IX_BUFFER_RECEIVED = 1,
    IX_BUFFER_COLLECTIVE = 2,
    IX_BUFFER_IN_PLACE = 4,
    IX_BUFFER_ONE_SIDED = 8
};
IX_HIDDEN IX_COLD void ix_add_one(ix_watched_call *call, int how, const void *address,
                                  int64_t count, MPI_Datatype type, int peer, int tag,
                                  MPI_Comm comm);

/* Where item `index` of a buffer is. */
IX_HIDDEN IX_COLD const void *ix_item(const void *buffer, int64_t index, MPI_Datatype type);

/* Blocks by lists; `starts` may be (int *)NULL. */
#define IX_ADD_LISTS(call, receives, place, number, numbers, starts, datatype, ...)                \
    ix_buffers->add((call), &(ix_buffer){.address = (place),                                       \
                                         .blocks = (number),                                       \
                                         .counts = (numbers),                                      \
                                         .count_bytes = sizeof *(numbers),                         \
                                         .places = (starts),                                       \
                                         .place_bytes = sizeof *(starts),                          \
                                         .type = (datatype),                                       \
                                         .is_receive = (receives),                                 \
                                         __VA_ARGS__})

#endif
