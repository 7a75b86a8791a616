/* What a user is told of this run: at once on stderr, and in the run directory. */
#ifndef IMBREX_BASE_WARNINGS_H
#define IMBREX_BASE_WARNINGS_H

#include "base/attributes.h"

/* One line on stderr, from rank 0 only unless the fault is a rank's own; it is kept too. */
IX_HIDDEN void ix_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Keep a line for the run directory alone. */
IX_HIDDEN void ix_keep_warning(const char *line);

/* The lines that were kept: the first few. */
typedef struct ix_warnings {
    const char *const *lines;
    int count;
} ix_warnings;
IX_HIDDEN ix_warnings ix_kept_warnings(void);

#endif
