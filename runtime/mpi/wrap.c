#include "mpi/wrap.h"

__thread const void *ix_caller;
int ix_has_own_operations, ix_handles_errors;
