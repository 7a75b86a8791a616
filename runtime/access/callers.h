/* Which call of the user's led to code of another image: found on a copy of the stack. */
#ifndef IMBREX_ACCESS_CALLERS_H
#define IMBREX_ACCESS_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"

/* The stack pointer's number among perf's registers; -1: not known for this processor. */
#ifdef __x86_64__
enum { IXA_STACK_POINTER = 7 };
#else
enum { IXA_STACK_POINTER = -1 };
#endif

/* The return address of the innermost call from the image that `inside` lies in to another image;
 * NULL if none is found. `stack`: its words, the innermost first. */
IX_HIDDEN const void *ixa_call_on_stack(const uint64_t *stack, size_t words, const void *inside);

/* Where the image that holds an address begins; NULL if it is in none. */
IX_HIDDEN const void *ixa_image_of(const void *address);

#endif
