/* The communicators and windows in the call log of this process, found by their numbers. Entering
 * and finding them: call_logging.h. */
#ifndef IMBREX_CORE_LOG_COMMS_H
#define IMBREX_CORE_LOG_COMMS_H

#include "base/attributes.h"

/* Once the log's memory is there: 0, or -1 with errno. What it has already is entered. */
IX_HIDDEN int ix_log_comms_start(void);
IX_HIDDEN void ix_log_comms_stop(void);

#endif
