/* Whether wrappers and event sources record. */
#ifndef IMBREX_BASE_MEASURING_H
#define IMBREX_BASE_MEASURING_H

#include "base/attributes.h"

/* Only open transfers are kept, for a progress thread: calls that begin and end none record
 * nothing. */
enum ix_measuring { IX_RECORDING = 1, IX_HELPING = 2 };

/* Set by job/ between the job's start and its end; 0 before and after. */
extern IX_HIDDEN int ix_measuring;

#endif
