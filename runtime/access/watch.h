/* When the clean run really writes and reads single elements: one hardware watchpoint, moved from
 * element to element over the iterations (Linux perf events; without the right to use them there
 * are simply no such times). */
#ifndef IMBREX_ACCESS_WATCH_H
#define IMBREX_ACCESS_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"

/* Learn whether watchpoints work and what a trap costs. */
IX_HIDDEN void ixa_watch_start(void);
IX_HIDDEN int ixa_watch_works(void);
/* Armed and not yet disarmed; and whether the first access has been seen already. */
IX_HIDDEN int ixa_watch_busy(void);
IX_HIDDEN int ixa_watch_found(void);

/* Watch `size` bytes from now on: the last write, or the first access, that the program makes.
 * `caller`: also find the call in that image (an address in it) through which other code made it;
 * that costs time, so the access has none then. */
IX_HIDDEN void ixa_watch_arm(uintptr_t address, size_t size, int is_write, const void *caller);
/* Where the code is that made that access, and the return address of the call; NULL if unknown. */
IX_HIDDEN const void *ixa_watch_code(void);
IX_HIDDEN const void *ixa_watch_call(void);
/* The clean time of that access, if there was one; either way the watchpoint is free again. */
IX_HIDDEN int ixa_watch_disarm(double *ns);

/* An interval of computation ends now: how many traps were in it. If any were, ixa_watch_ended
 * follows with the interval's start and end on the clean clock. */
IX_HIDDEN int ixa_watch_interval(int64_t start_ns, int64_t now_ns);
IX_HIDDEN void ixa_watch_ended(double start_ns, double end_ns);
/* A new interval begins: forget the accesses that the MPI library made. */
IX_HIDDEN void ixa_watch_resume(void);
/* An interval's length without its traps, as far as their usual cost tells. */
IX_HIDDEN double ixa_watch_without(double length_ns, int hits);
/* How far apart trap costs were when they were learnt: the spread of a single time. */
IX_HIDDEN double ixa_watch_spread_ns(void);

#endif
