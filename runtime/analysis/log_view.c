#include "analysis/log_view.h"

#include <stddef.h>
#include <stdlib.h>

int ix_view_add_polls(ix_view *view, const ix_log_record *record)
{
    if (view->count == 0 || record->bytes <= 0)
        return 0;
    if (view->polls_count == view->polls_room) {
        uint32_t room = view->polls_room ? 2 * view->polls_room : 64;
        ix_polled *polls = realloc(view->polls, room * sizeof *polls);
        if (!polls)
            return -1;
        view->polls = polls;
        view->polls_room = room;
    }
    int64_t since_ns = (int64_t)(record->comm | (uint64_t)(uint32_t)record->peer << 32);
    view->polls[view->polls_count++] = (ix_polled){view->count - 1, since_ns, record->bytes};
    return 0;
}

const ix_polled *ix_view_polls(const ix_view *view, uint32_t call)
{
    uint32_t low = 0, high = view->polls_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->polls[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->polls_count && view->polls[low].call == call ? &view->polls[low] : NULL;
}

void ix_view_index(ix_view *view)
{
    uint32_t at = 0;
    for (int thread = 0; thread < IX_VIEW_THREADS; thread++) {
        view->first[thread] = at;
        while (at < view->count && view->ops[at].thread == thread)
            at++;
    }
    view->first[IX_VIEW_THREADS] = at;
    view->one_thread = view->first[1] == view->count;
    /* One whose calls are not logged, such as tests that find nothing, drives data all the same. */
    for (int thread = 1; thread < IX_VIEW_THREADS; thread++)
        view->one_thread &= view->ends[thread].call_ns == 0;
}

typedef struct range {
    int64_t low, high;
} range;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Between two moments at which the clock of calls is known: it stands or runs. */
static range between(int64_t t, int64_t from, int64_t at_from, int64_t to, int64_t at_to)
{
    return (range){most(at_from, at_to - (to - t)), least(at_to, at_from + (t - from))};
}

/* The first of the records [first, end) of a thread that was entered after t. Most times that are
 * asked for lie close to `near`, one of these records. */
static uint32_t entered_after(const ix_view *view, uint32_t near, uint32_t first, uint32_t end,
                              int64_t t)
{
    uint32_t low = first, high = end, step = 1;
    if (view->ops[near].enter_ns <= t) {
        low = near + 1;
        for (; step < end - near && view->ops[near + step].enter_ns <= t; step *= 2)
            low = near + step + 1;
        high = step < end - near ? near + step : end;
    } else {
        high = near;
        for (; step <= near - first && view->ops[near - step].enter_ns > t; step *= 2)
            high = near - step;
        low = step <= near - first ? near - step + 1 : first;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->ops[middle].enter_ns <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What the clock of calls of a record's thread may have shown at t. */
static range call_clock(const ix_view *view, uint32_t near, int64_t t)
{
    uint8_t thread = view->ops[near].thread;
    uint32_t first = view->first[thread], end = view->first[thread + 1];
    uint32_t low = entered_after(view, near, first, end, t);
    const ix_thread_end *last = &view->ends[thread];
    const ix_op *next = low < end ? &view->ops[low] : NULL;
    int64_t to = next ? next->enter_ns : last->time_ns;
    int64_t at_to = next ? next->call_before_ns : last->call_ns;
    if (low == first)
        return t <= 0   ? (range){0, 0}
               : t < to ? between(t, 0, 0, to, at_to)
                        : (range){at_to, at_to + (t - to)};
    const ix_op *op = &view->ops[low - 1];
    if (t <= op->exit_ns) {
        int64_t exact = op->call_before_ns + (t - op->enter_ns);
        return (range){exact, exact};
    }
    int64_t after = op->call_before_ns + (op->exit_ns - op->enter_ns);
    if (!next && to <= t)
        return (range){most(after, at_to), most(after, at_to) + (t - most(to, op->exit_ns))};
    return between(t, op->exit_ns, after, to, at_to);
}

ix_span ix_view_span(const ix_view *view, uint32_t near, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns)
        return (ix_span){0};
    range from = call_clock(view, near, from_ns), to = call_clock(view, near, to_ns);
    int64_t length = to_ns - from_ns;
    ix_span span = {.call_min = most(0, to.low - from.high),
                    .call_max = least(length, most(0, to.high - from.low))};
    span.call_min = least(span.call_min, span.call_max);
    span.compute_min = length - span.call_max;
    span.compute_max = length - span.call_min;
    return span;
}
