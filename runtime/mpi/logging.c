#include "mpi/logging.h"

void ix_log_receive_failed(ix_thread *t, int rc, const MPI_Status *status, int peer, int tag,
                           MPI_Comm comm)
{
    int class = MPI_SUCCESS;
    if (!ix_log_is_on || PMPI_Error_class(rc, &class) != MPI_SUCCESS || class != MPI_ERR_TRUNCATE)
        return;
    ix_log_message(t, 0, ix_logged_where(comm, status->MPI_SOURCE),
                   ix_logged_envelope(IX_LOG_RECV, status->MPI_TAG,
                                      ix_path_to(comm, status->MPI_SOURCE),
                                      ix_wildcard(peer, tag) | IX_LOG_FAILED));
}
