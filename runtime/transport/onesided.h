/* Puts and gets that a source inside the library sees posted: open until a flush, or until their
 * epoch is closed. */
#ifndef IMBREX_TRANSPORT_ONESIDED_H
#define IMBREX_TRANSPORT_ONESIDED_H

#include "core/engine.h"

/* What becomes of what a call posts. */
enum ix_form {
    IX_NOT_ONE_SIDED = 0,
    IX_PIECES, /* MPI_Put, MPI_Get: each put or get is a transfer of its own */
    /* one transfer, the call's, that may be over before its request or its epoch (but for atomic
     * operations, which are pieces): */
    IX_PUTS, /* once all its bytes are put: MPI_Rput, accumulates where a library puts the result */
    IX_GETS, /* once all are fetched, and put again if any are: MPI_Rget, fetching accumulates */
};

/* From now on puts and gets posted in calls of the operations in `forms` (enum ix_form) are on
 * `path`. */
IX_HIDDEN void ix_onesided_use(int path, const uint8_t *forms);

/* The thread, if what it posts now is a put or a get of the program's. */
IX_HIDDEN ix_thread *ix_onesided_poster(void);
enum ix_onesided_kind { IX_A_PUT = 0, IX_A_GET = 1, IX_AN_ATOMIC = 2 };
/* `bytes` (-1: not known) were posted at `time_ns` through an endpoint of `worker` (NULL: not
 * known). Whether a flush would tell something of it. */
IX_HIDDEN int ix_onesided_posted(ix_thread *t, enum ix_onesided_kind kind, const void *endpoint,
                                 const void *worker, int64_t bytes, int64_t time_ns);
/* Before a flush: the last that it is behind; 0 where nothing is open. */
IX_HIDDEN uint64_t ix_onesided_last(void);
/* The flush of an endpoint or a worker is complete. */
IX_HIDDEN void ix_onesided_flushed(const void *object, uint64_t last);
/* Whether a transfer through this endpoint is open that was posted after `last`. */
IX_HIDDEN int ix_onesided_waits(const void *endpoint, uint64_t last);

/* In the call that began it: whether all its bytes were posted, so that they stand for it. */
IX_HIDDEN int ix_onesided_begun(ix_thread *t, uint64_t group, int32_t target,
                                const ix_transfer *transfer);
/* After that, for what stays one transfer: whether it is over when this call returns. */
IX_HIDDEN int ix_onesided_over(ix_thread *t, const ix_transfer *transfer);
/* And where it is not: request `handle` was begun for it. */
IX_HIDDEN void ix_onesided_requested(ix_thread *t, uint64_t group, int32_t target,
                                     const ix_transfer *transfer, uint64_t handle);
/* As ix_finish_group: what of it no flush has ended is over now. */
IX_HIDDEN void ix_onesided_closed(ix_thread *t, uint64_t group, int32_t target, int slack);

#endif
