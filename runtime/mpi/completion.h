/* From the arguments of MPI calls to the ends of transfers: requests that a call saw complete, gave
 * up, cancelled or started again. As arguments.h. */
#ifndef IMBREX_MPI_COMPLETION_H
#define IMBREX_MPI_COMPLETION_H

#include "core/engine.h"
#include "mpi/logging.h"
#include "mpi/notes.h"
#include "mpi/observers.h"

/* What a note says about a completed request: the path of its receive; ends the send of a pair. */
IX_HIDDEN int ix_completed_with_note(ix_thread *t, uint64_t handle, const MPI_Status *status,
                                     int64_t *bytes);

/* The same of one whose end will not be seen. */
IX_HIDDEN void ix_given_up_with_note(ix_thread *t, uint64_t handle);

/* What the log and observers are told of a completed request. */
IX_HIDDEN void ix_tell_complete(ix_thread *t, MPI_Request request, const MPI_Status *status,
                                int64_t bytes, int path);

/* The request is gone, with an error. */
IX_HIDDEN IX_COLD void ix_completed_with_error(ix_thread *t, MPI_Request request,
                                               const MPI_Status *status);

static inline IX_ALWAYS void ix_seen_complete(ix_thread *t, MPI_Request request,
                                              const MPI_Status *status)
{
    int path = IX_AS_POSTED;
    int64_t bytes = ix_status_bytes(status);
    if (request == MPI_REQUEST_NULL)
        return;
    if (IX_UNLIKELY(atomic_load_explicit(&ix_notes_used, memory_order_relaxed)))
        path = ix_completed_with_note(t, ix_handle(request), status, &bytes);
    if (IX_LIKELY(ix_log_is_on == IX_LOG_ON && !ix_is_told(IX_TELL_REQUESTS))) {
        ix_finish_logged(t, ix_handle(request), ix_log_came(status->MPI_SOURCE, status->MPI_TAG),
                         bytes, path);
        return;
    }
    if (IX_UNLIKELY(ix_log_is_on || ix_is_told(IX_TELL_REQUESTS)))
        ix_tell_complete(t, request, status, bytes, path);
    ix_finish(t, ix_handle(request), bytes, path);
}

static inline void ix_given_up(ix_thread *t, MPI_Request request)
{
    if (IX_UNLIKELY(atomic_load_explicit(&ix_notes_used, memory_order_relaxed)))
        ix_given_up_with_note(t, ix_handle(request));
    if (ix_is_told(IX_TELL_REQUESTS))
        ix_tell_lost(t, ix_handle(request));
    if (ix_log_is_on)
        ix_log_given_up(t, ix_handle(request));
    ix_request_free(t, ix_handle(request));
}

static inline void ix_cancelled(ix_thread *t, MPI_Request request)
{
    if (ix_is_told(IX_TELL_REQUESTS))
        ix_tell_lost(t, ix_handle(request));
    ix_log_cancels();
    ix_cancel(t, ix_handle(request));
}

/* Nothing is known that a call which completes requests could complete. */
static inline int ix_knows_no_request(void)
{
    return !ix_any_open() && !atomic_load_explicit(&ix_notes_used, memory_order_relaxed);
}

/* `was` is the handle before the call, `now` after it. */
static inline IX_ALWAYS void ix_completed(ix_thread *t, int rc, MPI_Request was, MPI_Request now,
                                          const MPI_Status *status)
{
    if (IX_LIKELY(rc == MPI_SUCCESS))
        ix_seen_complete(t, was, status);
    else if (was != MPI_REQUEST_NULL && now == MPI_REQUEST_NULL)
        ix_completed_with_error(t, was, status);
}

/* The same for one of several: MPI_ERR_IN_STATUS says nothing about each of them. */
static inline IX_ALWAYS void ix_completed_one_of(ix_thread *t, int rc, MPI_Request was,
                                                 MPI_Request now, const MPI_Status *status)
{
    if (IX_UNLIKELY(rc != MPI_SUCCESS)) {
        if (rc != MPI_ERR_IN_STATUS || status->MPI_ERROR == MPI_ERR_PENDING)
            return;
        rc = status->MPI_ERROR;
    }
    ix_completed(t, rc, was, now, status);
}

static inline void ix_started_request(ix_thread *t, MPI_Request request)
{
    if (IX_LIKELY(ix_log_is_on))
        ix_log_started(t, ix_handle(request));
    ix_start_request(t, ix_handle(request));
}

#endif
