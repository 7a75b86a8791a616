/* Whether wrappers and event sources record. */
#ifndef IMBREX_BASE_MEASURING_H
#define IMBREX_BASE_MEASURING_H

#include "base/attributes.h"

/* Set by job/ between the job's start and its end. */
extern IX_HIDDEN int ix_measuring;

#endif
