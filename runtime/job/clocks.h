/* One time for all ranks of the job: that of rank 0's clock.
 *
 * Ranks that read one and the same hardware clock share it, with an error of 0. Between clocks,
 * ping-pongs at the begin and at the end of the run bound the offset by half of the best round
 * trip, in O(log(number of clocks)) rounds. docs/theory/measuring.md, "Clocks". */
#ifndef IMBREX_CLOCKS_H
#define IMBREX_CLOCKS_H

#include "core/clock_line.h"
#include "core/thread.h"
#include "generated/ix_mpi.h"

/* After MPI_Init, before the engine starts: starts this process's clock (`ns` as for
 * ix_clock_start) and makes it the same as that of the other processes with this hardware clock.
 * Collective. Where it fails, errors are IX_CLOCK_UNKNOWN. */
IX_HIDDEN void ix_clocks_begin(MPI_Comm all, int64_t (*ns)(void));

/* After the last measured call, before the times of two ranks are compared. Collective. */
IX_HIDDEN void ix_clocks_end(MPI_Comm all);

/* A time of this process (ix_now) on the common clock: after ix_clocks_begin with the offset that
 * was measured there, after ix_clocks_end with a known error. */
IX_HIDDEN int64_t ix_common_ns(int64_t local_ns);

/* The same the other way. */
IX_HIDDEN int64_t ix_local_ns(int64_t common_ns);

/* How far apart the common times that this process and rank `peer` of MPI_COMM_WORLD give to one
 * moment may be: 0 with one clock, IX_CLOCK_UNKNOWN where nothing is known. */
IX_HIDDEN int64_t ix_clock_error_ns(int peer);

/* The largest error of any rank against rank 0's clock; how many clocks the job has. */
IX_HIDDEN int64_t ix_clocks_largest_error_ns(void);
IX_HIDDEN int ix_clocks_count(void);

/* The number of this process's clock, from 0 on; -1: nothing is known of it. */
IX_HIDDEN int ix_clock_number(void);

/* In the place of ix_clocks_begin and ix_clocks_end, for the parts that the ranks of a job left:
 * numbers[i] is 1 + the number of rank i's clock, 0 where it is not known. Ranks with one clock
 * share it; nothing is known of how two clocks ran apart after the job began. The common clock
 * showed common_ns when rank `rank`'s showed local_ns. 0, or -1 without memory. */
IX_HIDDEN int ix_clocks_of_parts(int rank, int ranks, const uint32_t *numbers, int64_t local_ns,
                                 int64_t common_ns);

/* ns that comparing the clocks took on this rank, at the begin and at the end. */
IX_HIDDEN int64_t ix_clocks_cost_ns(void);

IX_HIDDEN void ix_clocks_free(void);

#endif
