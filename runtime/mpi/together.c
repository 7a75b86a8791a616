#define _GNU_SOURCE
#include "together.h"

#include <dlfcn.h>
#include <time.h>

/* Over UCX and TCP, MPICH at times does not return from MPI_Finalize, with or without Imbrex (MPICH
 * 4.0.2, UCX 1.13.1): one rank waits in its endpoints' flush, the other in a barrier of the process
 * manager, in which it makes no progress and answers nobody. Seen where a rank entered while
 * another was still at work; not since all leave their last call before the first of them enters.
 * What the runtime sends at the end would else make them enter apart. */
void ix_finalize_together(MPI_Comm all)
{
#if defined(MPICH_VERSION) && !defined(IMBREX_DIRECT)
    int ranks = 1;
    PMPI_Comm_size(all, &ranks);
    if (ranks < 2 || !dlsym(RTLD_DEFAULT, "ucp_worker_progress"))
        return;
    PMPI_Barrier(all);
    const struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
#else
    (void)all;
#endif
}
