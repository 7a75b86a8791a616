/* This rank's call log as the analysis reads it. */
#ifndef IMBREX_JOB_OWN_LOG_H
#define IMBREX_JOB_OWN_LOG_H

#include "analysis/log_view.h"
#include "core/thread.h"

/* Copy what counts at `level` into `view`; times stay those of this rank since its start. 0, or -1
 * where there is no log or no memory: then the view is empty. */
IX_HIDDEN int ix_own_log(ix_view *view, uint32_t level);
IX_HIDDEN void ix_own_log_free(ix_view *view);

#endif
