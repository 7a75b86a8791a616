/* From the arguments of one-sided MPI calls to the transfers of the engine. As arguments.h. */
#ifndef IMBREX_MPI_ONE_SIDED_H
#define IMBREX_MPI_ONE_SIDED_H

#include "mpi/arguments.h"

/* Its transfer times are those of the operation `calibration`, measured apart from messages. */
static inline ix_transfer ix_one_sided(int64_t bytes, int path, int slack, uint32_t calibration)
{
    ix_transfer x = ix_moved(bytes, path, slack);
    x.flags = IX_COLLECTIVE | IX_CALL_ONLY;
    x.ranks = 2;
    x.operation = calibration;
    return x;
}

static inline ix_transfer ix_rma(MPI_Win win, int peer, int64_t bytes, int slack,
                                 uint32_t calibration)
{
    int path = peer == MPI_PROC_NULL ? IX_PATH_NONE : ix_path_in(ix_comm_of_window(win), peer);
    return ix_one_sided(bytes, path, slack, calibration);
}

/* `kind` is that of the record in the call log. */
static inline void ix_rma_begun(ix_thread *t, MPI_Win win, int peer, int64_t bytes,
                                uint32_t calibration, uint32_t kind)
{
    ix_transfer x = ix_rma(win, peer, bytes, IX_SLACK_NONE, calibration);
    ix_log_one_sided(t, win, peer, bytes, x.path, kind);
    int told = ix_is_told(IX_TELL_RMA);
    if (told && ix_tell_rma_begun(t, ix_handle(win), peer, &x))
        return;
    if (told && ix_tell_rma_over(t, &x))
        ix_blocking(t, &x);
    else
        ix_begin_in_group(t, ix_handle(win), peer, &x);
}

/* A window was created over `comm`: from now on others may move data unseen. */
static inline void ix_window_made(ix_thread *t, MPI_Win win, MPI_Comm comm)
{
    ix_exposed(t, 1);
    ix_window_created(win);
    ix_log_collective(t, ix_comm_of(comm), IX_NO_ROOT, IX_LOG_ALL, 0, 0);
}

static inline void ix_rma_closed(ix_thread *t, MPI_Win win, int target, int slack)
{
    ix_finish_group(t, ix_handle(win), target, slack);
    if (ix_is_told(IX_TELL_RMA))
        ix_tell_rma_closed(t, ix_handle(win), target, slack);
}

static inline void ix_rma_request_begun(ix_thread *t, MPI_Win win, int peer, int64_t bytes,
                                        uint32_t calibration, MPI_Request request, int slack,
                                        uint32_t kind)
{
    ix_transfer x = ix_rma(win, peer, bytes, slack, calibration);
    ix_log_one_sided_begun(t, win, peer, bytes, x.path, kind, request);
    int told = ix_is_told(IX_TELL_RMA);
    if (told && ix_tell_rma_over(t, &x)) {
        x.slack = IX_SLACK_NONE;
        ix_blocking(t, &x);
        return;
    }
    ix_begin(t, ix_handle(request), &x);
    if (told)
        ix_tell_rma_requested(t, ix_handle(win), peer, &x, ix_handle(request));
}

#endif
