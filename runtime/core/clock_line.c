#include "core/clock_line.h"

/* Crystals differ by less than 200 parts in a million, and 2 ms of calibration by less than 100. */
#define MOST_EXCESS 1e-3

ix_clock_line ix_clock_same(void)
{
    return (ix_clock_line){0};
}

ix_clock_point ix_clock_compared(int64_t sent_ns, int64_t reference_ns, int64_t returned_ns)
{
    int64_t took_ns = returned_ns - sent_ns;
    return (ix_clock_point){.local_ns = sent_ns + took_ns / 2,
                            .reference_ns = reference_ns,
                            .error_ns = (took_ns + 1) / 2};
}

ix_clock_line ix_clock_through(ix_clock_point begin, ix_clock_point end)
{
    ix_clock_line line = {.local0_ns = begin.local_ns,
                          .reference0_ns = begin.reference_ns,
                          .error_ns =
                              begin.error_ns > end.error_ns ? begin.error_ns : end.error_ns};
    if (begin.error_ns == IX_CLOCK_UNKNOWN || end.error_ns == IX_CLOCK_UNKNOWN) {
        line.error_ns = IX_CLOCK_UNKNOWN;
        return line;
    }
    int64_t local_ns = end.local_ns - begin.local_ns;
    int64_t gained_ns = end.reference_ns - begin.reference_ns - local_ns;
    int64_t unsure_ns = begin.error_ns + end.error_ns;
    int64_t size_ns = gained_ns < 0 ? -gained_ns : gained_ns;
    if (local_ns <= 0 || (double)(size_ns - unsure_ns) > MOST_EXCESS * (double)local_ns)
        line.error_ns = IX_CLOCK_UNKNOWN;
    else
        line.excess = (double)gained_ns / (double)local_ns;
    return line;
}

ix_clock_line ix_clock_chain(ix_clock_line to_middle, ix_clock_line to_reference)
{
    int known = to_middle.error_ns != IX_CLOCK_UNKNOWN && to_reference.error_ns != IX_CLOCK_UNKNOWN;
    double a = to_middle.excess, b = to_reference.excess;
    return (ix_clock_line){.local0_ns = to_middle.local0_ns,
                           .reference0_ns = ix_clock_read(&to_reference, to_middle.reference0_ns),
                           .excess = a + b + a * b,
                           .error_ns = known ? to_middle.error_ns + to_reference.error_ns
                                             : IX_CLOCK_UNKNOWN};
}

int64_t ix_clock_read(const ix_clock_line *line, int64_t local_ns)
{
    int64_t since_ns = local_ns - line->local0_ns;
    double gained_ns = line->excess * (double)since_ns;
    return line->reference0_ns + since_ns + (int64_t)(gained_ns + (gained_ns < 0 ? -0.5 : 0.5));
}

/* The rate differs from 1 by far less than 1, so that each step gains digits. */
int64_t ix_clock_unread(const ix_clock_line *line, int64_t reference_ns)
{
    int64_t local_ns = line->local0_ns + (reference_ns - line->reference0_ns);
    int64_t off_ns = line->excess != 0 ? reference_ns - ix_clock_read(line, local_ns) : 0;
    for (int i = 0; i < 3 && off_ns; i++) {
        local_ns += off_ns;
        off_ns = reference_ns - ix_clock_read(line, local_ns);
    }
    return local_ns;
}
