#include "mpi/wrap.h"

#include "mpi/python_lines.h"

__thread const void *ix_caller;
__thread MPI_Status ix_own_status;
int ix_has_own_operations, ix_handles_errors;

ix_thread *ix_enter_asking(uint32_t operation, const void *returns, const char *frame)
{
    ix_thread *t = ix_self;
    if (ix_caller && t && t->state == IX_ASKS_SITE) {
        t->state |= 1;
        ix_enter_outermost(t, operation, ix_caller, NULL, 1);
        return t;
    }
    if (ix_caller)
        return ix_enter_by_state(operation, ix_caller, NULL);
    if (ix_is_without_python())
        return ix_enter_by_state(operation, returns, frame);
    t = ix_enter_by_state(operation, ix_python_caller(returns), NULL);
    ix_enter_site(t); /* of a line of Python nobody can tell afterwards where it was */
    return t;
}
