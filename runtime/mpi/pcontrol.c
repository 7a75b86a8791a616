/* MPI_Pcontrol(0) and (1) pause and resume, as other profilers have it. */
#include "wrap.h"

IX_EXPORT int MPI_Pcontrol(const int level, ...)
{
    if (ix_measuring) {
        if (level == 0)
            ix_pause();
        else if (level == 1)
            ix_resume();
    }
    return MPI_SUCCESS;
}
