#include "mpi/wrap.h"

__thread const void *ix_caller;
