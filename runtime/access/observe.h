/* What the generated wrappers tell of a call's buffers: to the recorder, and to the guard.
 *
 *     ixa_call *ix_w = IXA_ENTER(ix_t, 0);
 *     if (ix_w) { ixa_add_one(ix_w, ...); ixa_before(ix_w); }
 *     int rc = PMPI_Irecv(...);
 *     if (ix_w) ixa_begun(ix_w, *request, request); */
#ifndef IMBREX_OBSERVE_H
#define IMBREX_OBSERVE_H

#include "buffers.h"
#include "comms.h"
#include "messages.h"
#include "times.h"

/* What is on; 0 in most runs. */
enum { IXA_RECORDS = 1, IXA_GUARDS = 2, IXA_ANNOTATED = 4 };
extern IX_HIDDEN int ixa_observed;

enum { IXA_BUFFERS = 3 };

typedef struct ixa_call {
    int on, polls;
    ixa_timeline_t *timeline; /* of the thread, where recording */
    const void *site;
    uint32_t operation;
    int buffers;
    ixa_buffer buffer[IXA_BUFFERS];
    ixa_receive_t receive[IXA_BUFFERS];
    uint64_t sum[IXA_BUFFERS];
    const void *packed; /* of MPI_Pack and MPI_Unpack: where the packed data are */
} ixa_call;

/* MPI is there; about to end. Both are called outside any call. */
IX_HIDDEN void ixa_start(int rank, const char *directory);
IX_HIDDEN void ixa_end(void);

/* Before the library's function: the call; its buffers; that they are all named. A call that polls
 * may turn out to have found nothing. NULL: nobody asks about this one. */
IX_HIDDEN IX_COLD ixa_call *ixa_enter(const ix_thread *t, int polls);
/* It is a collective on `c`. */
IX_HIDDEN IX_COLD void ixa_among(const ixa_call *call, const ix_comm *c);
IX_HIDDEN IX_COLD void ixa_add(ixa_call *call, const ixa_buffer *buffer);
/* A buffer of `count` items; `how`: of these. */
enum { IXA_SENT = 0, IXA_RECEIVED = 1, IXA_COLLECTIVE = 2, IXA_IN_PLACE = 4, IXA_ONE_SIDED = 8 };
IX_HIDDEN IX_COLD void ixa_add_one(ixa_call *call, int how, const void *address, int64_t count,
                                   MPI_Datatype type, int peer, int tag, MPI_Comm comm);
IX_HIDDEN IX_COLD void ixa_before(ixa_call *call);
/* Persistent requests are about to start. `where`: the user's first handle, the next `step` bytes
 * behind it. */
IX_HIDDEN IX_COLD void ixa_starting(ixa_call *call, int count, const MPI_Request *requests,
                                    const void *where, size_t step);

/* After it, one of these. The buffers were of this call alone; */
IX_HIDDEN IX_COLD void ixa_done(ixa_call *call);
/* a request stands for them, whose handle the user keeps at `where`; */
IX_HIDDEN IX_COLD void ixa_begun(ixa_call *call, MPI_Request request, const void *where);
/* or a persistent request, which does not start yet; */
IX_HIDDEN IX_COLD void ixa_planned(ixa_call *call, MPI_Request request);
/* or a window; */
IX_HIDDEN IX_COLD void ixa_begun_on(ixa_call *call, MPI_Win window, int target);
/* `count` requests, as they were before the call, are complete: those at `indices`, or all (NULL).
 * `found`: of a call that polls, whether it found what it asked for. */
IX_HIDDEN IX_COLD void ixa_complete(ixa_call *call, int found, int count,
                                    const MPI_Request *requests, const void *where, size_t step,
                                    const int *indices);
/* What was begun on the window is over, for one target or all (IX_ALL). */
IX_HIDDEN IX_COLD void ixa_complete_on(ixa_call *call, MPI_Win window, int target);
/* A look at requests that stay shows that these `count` are complete. */
IX_HIDDEN IX_COLD void ixa_seen(ixa_call *call, int count, const MPI_Request *requests,
                                const int *indices);
/* Perhaps nothing moves; the completion follows. */
IX_HIDDEN IX_COLD void ixa_cancelled(ixa_call *call, MPI_Request request, const void *where);
/* The end of the request will not be seen. */
IX_HIDDEN IX_COLD void ixa_freed(ixa_call *call, MPI_Request request, const void *where);
/* The call's buffer was packed, or (a receive) unpacked, if it did not fail. */
IX_HIDDEN IX_COLD void ixa_packed(ixa_call *call, int done);
/* A call without buffers. */
IX_HIDDEN IX_COLD void ixa_passed(ixa_call *call, int found);

/* Where item `index` of a buffer is. */
IX_HIDDEN const void *ixa_item(const void *buffer, int64_t index, MPI_Datatype type);

#define IXA_ENTER(thread, polls)                                                                   \
    (IX_UNLIKELY(ixa_observed) && ix_outermost(thread) ? ixa_enter((thread), (polls)) : NULL)

/* Blocks by lists; `starts` may be (int *)NULL. */
#define IXA_LISTS(call, receives, place, number, numbers, starts, datatype, ...)                   \
    ixa_add((call), &(ixa_buffer){.address = (place),                                              \
                                  .blocks = (number),                                              \
                                  .counts = (numbers),                                             \
                                  .count_bytes = sizeof *(numbers),                                \
                                  .places = (starts),                                              \
                                  .place_bytes = sizeof *(starts),                                 \
                                  .type = (datatype),                                              \
                                  .is_receive = (receives),                                        \
                                  __VA_ARGS__})

#endif
