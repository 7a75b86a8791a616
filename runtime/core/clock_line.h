/* One clock read by another: a point where both were read, a line through two points, and how far
 * off either may be. docs/theory/measuring.md, "Clocks". Nothing here knows MPI. */
#ifndef IMBREX_CLOCK_LINE_H
#define IMBREX_CLOCK_LINE_H

#include <stdint.h>

/* An error that nobody can bound: the clocks were not compared, or one of them jumped. */
#define IX_CLOCK_UNKNOWN INT64_MAX

/* When this clock showed local_ns, the reference showed reference_ns, give or take error_ns. */
typedef struct ix_clock_point {
    int64_t local_ns, reference_ns, error_ns;
} ix_clock_point;

/* reference = reference0_ns + (local - local0_ns) * (1 + excess), give or take error_ns between the
 * two points. */
typedef struct ix_clock_line {
    int64_t local0_ns, reference0_ns;
    double excess; /* by how much the reference runs faster, as a share */
    int64_t error_ns;
} ix_clock_line;

/* A clock that is its own reference. */
ix_clock_line ix_clock_same(void);

/* What one ping-pong tells: the reference was read while this clock went from sent_ns to
 * returned_ns, so the middle is wrong by half of that at most. */
ix_clock_point ix_clock_compared(int64_t sent_ns, int64_t reference_ns, int64_t returned_ns);

/* A line through the begin and the end of a run. Clocks of computers agree to a tenth of a per
 * cent; where these do not, one of them jumped, and the error is IX_CLOCK_UNKNOWN. */
ix_clock_line ix_clock_through(ix_clock_point begin, ix_clock_point end);

/* local -> middle -> reference. Errors add up. */
ix_clock_line ix_clock_chain(ix_clock_line to_middle, ix_clock_line to_reference);

int64_t ix_clock_read(const ix_clock_line *line, int64_t local_ns);

/* The other way. */
int64_t ix_clock_unread(const ix_clock_line *line, int64_t reference_ns);

#endif
