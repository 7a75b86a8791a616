#include "job/finalize.h"

#include <stdlib.h>
#include <string.h>

#include "transport/ucx_endpoints.h"

#if defined(MPICH_VERSION) && !defined(IMBREX_DIRECT)
/* The library may then be looking in a thread of its own. */
static int has_progress_thread(void)
{
    static const char *const names[] = {"MPIR_CVAR_ASYNC_PROGRESS", "MPIR_PARAM_ASYNC_PROGRESS",
                                        "MPICH_ASYNC_PROGRESS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && strcmp(value, "0"))
            return 1;
    }
    return 0;
}
#endif

/* Over UCX and TCP, MPICH at times does not return from MPI_Finalize, with or without Imbrex (MPICH
 * 4.0.2, UCX 1.13.1): one rank waits for its endpoints' flushes to be answered, the other in a
 * barrier of the process manager, in which it answers nobody. That comes of entering apart, and
 * what the runtime sends at the end makes the ranks do so. */
void ix_finalize_in_step(MPI_Comm all)
{
#if defined(MPICH_VERSION) && !defined(IMBREX_DIRECT)
    int ranks = 1;
    PMPI_Comm_size(all, &ranks);
    if (ranks < 2)
        return;
    PMPI_Barrier(all);
    ix_finalize_alone();
#else
    (void)all;
#endif
}

void ix_finalize_alone(void)
{
#if defined(MPICH_VERSION) && !defined(IMBREX_DIRECT)
    if (!has_progress_thread())
        ix_ucx_finalizing();
#endif
}
