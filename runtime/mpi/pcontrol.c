/* MPI_Pcontrol(0) and (1) pause and resume, as other profilers have it. */
#include "core/engine.h"
#include "mpi/wrap.h"

void ix_pcontrol(int level)
{
    if (!ix_measuring)
        return;
    if (level == 0)
        ix_pause();
    else if (level == 1)
        ix_resume();
}

IX_EXPORT int MPI_Pcontrol(const int level, ...)
{
    ix_pcontrol(level);
    return MPI_SUCCESS;
}
