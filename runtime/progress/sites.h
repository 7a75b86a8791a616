/* Which call sites had transfers open when a look moved data. */
#ifndef IMBREX_PROGRESS_SITES_H
#define IMBREX_PROGRESS_SITES_H

#include <stdint.h>

#include "base/attributes.h"

typedef struct ix_progress_site {
    int64_t looks, moving_ns; /* that moved data while transfers of the site were open */
    int64_t completed;        /* transfers of the site that a look saw complete */
} ix_progress_site;

/* 0, or -1 without memory. While the engine runs. */
IX_HIDDEN int ix_progress_sites_start(void);
/* By the helper: a look took so long because it moved data. */
IX_HIDDEN void ix_progress_moved(int64_t ns);
IX_HIDDEN void ix_progress_completed(int32_t site);
/* By site of the rank; `count` is set. NULL: nothing was ever started. */
IX_HIDDEN const ix_progress_site *ix_progress_sites(uint32_t *count);

#endif
