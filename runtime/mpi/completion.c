#include "mpi/completion.h"

#include "mpi/request_handles.h"

static ix_comm *comm_of(const ix_note *note)
{
    return (ix_comm *)(uintptr_t)note->value;
}

static int of_wildcard(const ix_note *note)
{
    return note->path == IX_PATH_ANY;
}

static int path_from(const ix_comm *c, int source)
{
    int path = c ? ix_path_in(c, source) : ix_path_to(MPI_COMM_WORLD, source);
    return path & ~(IX_PATH_FOREIGN | IX_PATH_UNSEEN);
}

int ix_completed_with_note(ix_thread *t, uint64_t handle, const MPI_Status *status, int64_t *bytes)
{
    ix_note note;
    int path = IX_AS_POSTED;
    if (!ix_note_get(handle, 1, &note))
        return IX_AS_POSTED;
    if (note.kind == IX_NOTE_PAIR) {
        ix_finish(t, handle, IX_AS_POSTED, IX_AS_POSTED);
        if (!ix_pair_status_works)
            *bytes = IX_AS_POSTED;
    }
    if (of_wildcard(&note)) {
        int told = note.kind == IX_NOTE_WILDCARD || ix_pair_status_works;
        if (told && status->MPI_SOURCE >= 0)
            path = path_from(comm_of(&note), status->MPI_SOURCE);
        if (!note.stays && comm_of(&note))
            ix_comm_drop(comm_of(&note));
    }
    return path;
}

void ix_tell_complete(ix_thread *t, MPI_Request request, const MPI_Status *status, int64_t bytes,
                      int path)
{
    ix_log_request_completed(t, request, status, bytes, path, 0);
    if (ix_is_told(IX_TELL_REQUESTS))
        ix_tell_completed(t, ix_handle(request), bytes, path);
}

void ix_completed_with_error(ix_thread *t, MPI_Request request, const MPI_Status *status)
{
    ix_log_request_completed(t, request, status, 0, IX_AS_POSTED, IX_LOG_FAILED);
    ix_given_up(t, request);
}

void ix_given_up_with_note(ix_thread *t, uint64_t handle)
{
    ix_note note;
    if (!ix_note_get(handle, 2, &note))
        return;
    if (note.kind == IX_NOTE_PAIR)
        ix_request_free(t, handle);
    if (of_wildcard(&note) && comm_of(&note))
        ix_comm_drop(comm_of(&note));
}
