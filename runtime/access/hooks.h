/* Accesses to whole ranges, as hooks of other files make them. */
#ifndef IMBREX_ACCESS_HOOKS_H
#define IMBREX_ACCESS_HOOKS_H

#include <stddef.h>

/* A range is accessed eight bytes after eight bytes, as the loop that it stands for. */
void ixa_range(const void *pointer, size_t size, int is_write, const void *code);
/* A library has copied: what was there before is still at `from`. */
void ixa_copied_range(void *to, const void *from, size_t size, const void *code);

#endif
