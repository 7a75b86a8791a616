/* For how long a thread had no core although it was ready to run. */
#ifndef IMBREX_JOB_CORE_WAIT_H
#define IMBREX_JOB_CORE_WAIT_H

#include "core/thread.h"

/* Of the calling thread, since it began; -1: the system does not tell. */
IX_HIDDEN int64_t ix_core_wait_ns(void);

#endif
