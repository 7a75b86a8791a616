#include "mpi/wrap.h"

#include "mpi/python_lines.h"

__thread const void *ix_caller = IX_NOT_ASKED;
int ix_has_own_operations, ix_handles_errors;

const void *ix_ask_caller(const void *returns)
{
    if (!ix_is_without_python())
        return ix_python_caller(returns);
    ix_caller = NULL;
    return returns;
}

const char *ix_ask_frame(const char *frame)
{
    return ix_is_without_python() ? frame : NULL;
}
