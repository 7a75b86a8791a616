/* Other wrappers of MPI in the process: of the program itself, or of a profiling library. */
#ifndef IMBREX_JOB_FOREIGN_WRAPPERS_H
#define IMBREX_JOB_FOREIGN_WRAPPERS_H

#include "core/thread.h"

/* Warn of those that are called before this object's, which then does not see the call, and of
 * those behind it, which are not called. */
IX_HIDDEN IX_COLD void ix_tell_of_other_wrappers(void);

#endif
