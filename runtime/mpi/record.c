#include "record.h"

#include <string.h>

#include "learn.h"

static MPI_Comm comm_from(uint64_t handle)
{
    MPI_Comm comm;
    memcpy(&comm, &handle, sizeof comm); /* little-endian, as the file formats are */
    return comm;
}

int ix_completed_with_note(ix_thread *t, uint64_t handle, const MPI_Status *status, int64_t *bytes)
{
    ix_note note;
    if (!ix_note_get(handle, 1, &note))
        return IX_AS_POSTED;
    if (note.kind == IX_NOTE_PAIR) {
        ix_finish(t, handle, IX_AS_POSTED, IX_AS_POSTED);
        if (!ix_pair_status_works) {
            *bytes = IX_AS_POSTED;
            return IX_AS_POSTED;
        }
    }
    if ((note.kind == IX_NOTE_WILDCARD || note.kind == IX_NOTE_PAIR) && note.value &&
        status->MPI_SOURCE >= 0)
        return ix_path_to(comm_from(note.value), status->MPI_SOURCE) &
               ~(IX_PATH_FOREIGN | IX_PATH_UNSEEN);
    return IX_AS_POSTED;
}
