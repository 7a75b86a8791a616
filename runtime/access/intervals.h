/* How long intervals of computation take that lie between the same two calls. */
#ifndef IMBREX_ACCESS_INTERVALS_H
#define IMBREX_ACCESS_INTERVALS_H

#include <stdint.h>

#include "base/attributes.h"

/* What an interval would have taken without the `hits` traps of a watchpoint in it: the median of
 * its like. `key` is not 0. */
IX_HIDDEN double ixa_undisturbed(uint64_t key, double length, int hits);

/* One more interval of the key: `length` is kept unless it is negative. How many there are of it by
 * now; 0 where there is no room for the key. */
IX_HIDDEN uint32_t ixa_interval_seen(uint64_t key, double length);
/* So many accesses were recorded in an interval of the key; and the mean of these, 0 without any.
 */
IX_HIDDEN void ixa_interval_accessed(uint64_t key, uint64_t accesses);
IX_HIDDEN double ixa_interval_accesses(uint64_t key);
/* The lengths that were kept last, one after the other from the oldest on, again and again;
 * negative if there is none. */
IX_HIDDEN double ixa_interval_next(uint64_t key);

#endif
