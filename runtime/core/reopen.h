/* A part that a process left, as the stopped engine of this process: what it measured and its call
 * log can be read as if it had come to its end. */
#ifndef IMBREX_CORE_REOPEN_H
#define IMBREX_CORE_REOPEN_H

#include <stddef.h>

#include "base/attributes.h"

/* The file stays as it is. 0; or -1 with one line about the fault in `error`: not a part of this
 * version, damaged, no memory. A call log that is damaged is left out. */
IX_HIDDEN int ix_reopen(const char *path, char *error, size_t error_bytes);

#endif
