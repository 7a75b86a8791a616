/* Symbols of other images of the process, behind this object's own of the same name. */
#ifndef IMBREX_BASE_SYMBOLS_H
#define IMBREX_BASE_SYMBOLS_H

#include "base/attributes.h"

/* The address, also in an image outside the global scope (a library under a Python module); NULL
 * if there is none. */
IX_HIDDEN void *ix_next_symbol(const char *name);

#endif
