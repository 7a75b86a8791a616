#include "analysis/overview.h"

#include <stdlib.h>

void ix_overview_start(ix_overview *o, int32_t rank, int64_t end_ns, uint32_t most)
{
    *o = (ix_overview){0};
    if (end_ns <= 0 || most == 0)
        return;
    o->length_ns = (end_ns + most - 1) / most;
    o->count = (uint32_t)((end_ns + o->length_ns - 1) / o->length_ns);
    o->rows = calloc(o->count, sizeof *o->rows);
    for (uint32_t i = 0; o->rows && i < o->count; i++)
        o->rows[i] = (ix_overview_row){.rank = rank,
                                       .begin_ns = i * o->length_ns,
                                       .length_ns = o->length_ns,
                                       .logged_ns = o->length_ns};
}

/* The number of the stretch that a moment lies in. */
static uint32_t stretch(const ix_overview *o, int64_t at_ns)
{
    int64_t number = at_ns < 0 ? 0 : at_ns / o->length_ns;
    return (uint32_t)ix_least(number, o->count - 1);
}

/* How much of [from_ns, to_ns) lies in stretch `i`; the last reaches to the end of all time. */
static int64_t inside(const ix_overview *o, uint32_t i, int64_t from_ns, int64_t to_ns)
{
    int64_t begin = o->rows[i].begin_ns, end = begin + o->length_ns;
    return ix_most(0, ix_least(to_ns, end) - ix_most(from_ns, begin));
}

/* `ns` of a time of which one in `every` counts: what counts, and what it takes. */
static int64_t counted(int64_t ns, double every)
{
    return every > 1 ? (int64_t)((double)ns / every) : ns;
}

static int64_t takes(int64_t ns, double every)
{
    return every > 1 ? (int64_t)((double)ns * every) : ns;
}

void ix_overview_add(ix_overview *o, int64_t enter_ns, int64_t exit_ns, int64_t call_ns,
                     const ix_interval part[IX_CAUSES])
{
    static const int late[] = {IX_LATE_SENDER, IX_LATE_COLLECTIVE, IX_LATE_RECEIVER};
    static const int last[] = {IX_STALLED, IX_TRANSFER, IX_LIBRARY, IX_FILE_IO, IX_UNATTRIBUTED};
    enum { LAST = sizeof last / sizeof *last };
    if (!o->rows || exit_ns < enter_ns)
        return;
    double every = call_ns > 0 ? (double)(exit_ns - enter_ns) / (double)call_ns : 1;
    uint32_t first = stretch(o, enter_ns), end = stretch(o, exit_ns);
    int64_t begin[IX_CAUSES], length[IX_CAUSES], from = enter_ns, to = exit_ns;
    for (int k = 0; k < IX_CAUSES; k++)
        length[k] = takes(part[k].min_ns, every);
    for (int k = 0; k < 3; k++) {
        begin[late[k]] = from;
        from += length[late[k]];
    }
    for (int k = LAST - 1; k >= 0; k--) {
        to -= length[last[k]];
        begin[last[k]] = to;
    }
    for (uint32_t i = first; i <= end; i++) {
        ix_overview_row *row = &o->rows[i];
        row->call_ns += counted(inside(o, i, enter_ns, exit_ns), every);
        for (int k = 0; k < IX_CAUSES; k++)
            if (length[k] > 0)
                row->part_ns[k] += counted(inside(o, i, begin[k], begin[k] + length[k]), every);
    }
}

void ix_overview_logged(ix_overview *o, const ix_log_header *log, uint32_t level)
{
    if (!o->rows || level == 0 || log->window_shift > 62)
        return;
    int64_t length = INT64_C(1) << log->window_shift;
    for (uint32_t i = 0; i < o->count; i++) {
        int64_t begin = o->rows[i].begin_ns, end = begin + o->length_ns;
        int64_t window = ix_most(0, (begin - log->origin_ns) >> log->window_shift), step = 1;
        step <<= level;
        o->rows[i].logged_ns = 0;
        for (window = (window + step - 1) / step * step;; window += step) {
            int64_t from = log->origin_ns + (window << log->window_shift);
            if (from >= end)
                break;
            o->rows[i].logged_ns += inside(o, i, from, from + length);
        }
    }
}

void ix_overview_free(ix_overview *o)
{
    free(o->rows);
    *o = (ix_overview){0};
}
