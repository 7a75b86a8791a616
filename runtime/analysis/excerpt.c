#include "analysis/excerpt.h"

#include <stdlib.h>

#include "analysis/completions.h"

enum { MOST_LOOKED_AT = 1 << 16 };

static const ix_causes_row *most_at_stake(const ix_rows *causes, int64_t *stake_ns)
{
    const ix_causes_row *rows = (const void *)causes->rows, *found = NULL;
    *stake_ns = -1;
    for (size_t i = 0; i < causes->count; i++) {
        int64_t stake = rows[i].call_ns - rows[i].part[IX_LIBRARY].min_ns;
        if (rows[i].logged && stake > *stake_ns) {
            *stake_ns = stake;
            found = &rows[i];
        }
    }
    return found;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int64_t median(int64_t *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count ? values[count / 2] : 0;
}

static double far(int64_t value, int64_t from)
{
    double distance = value > from ? (double)(value - from) : (double)(from - value);
    return distance / (from > 0 ? (double)from : 1.0);
}

/* Of the calls `list` that with the median length and the median time to the next. */
static uint32_t most_typical(const ix_view *view, const uint32_t *list, uint32_t count,
                             int64_t *scratch)
{
    if (count < 2)
        return list[0];
    for (uint32_t k = 0; k + 1 < count; k++)
        scratch[k] = view->ops[list[k + 1]].enter_ns - view->ops[list[k]].enter_ns;
    int64_t period = median(scratch, count - 1);
    for (uint32_t k = 0; k < count; k++)
        scratch[k] = view->ops[list[k]].exit_ns - view->ops[list[k]].enter_ns;
    int64_t length = median(scratch, count);
    uint32_t best = 0;
    double least = 0;
    for (uint32_t k = 0; k + 1 < count; k++) {
        const ix_op *op = &view->ops[list[k]], *next = &view->ops[list[k + 1]];
        /* Begin and end of a run are no iterations: of equals the one in the middle. */
        double off = (k < count / 2 ? count / 2 - k : k - count / 2) * 1e-6 / count;
        off += far(next->enter_ns - op->enter_ns, period) + far(op->exit_ns - op->enter_ns, length);
        if (k == 0 || off < least) {
            least = off;
            best = k;
        }
    }
    return list[best];
}

ix_proposal ix_excerpt_propose(const ix_view *view, const ix_analysis *analysis)
{
    ix_proposal p = {.stake_ns = -1};
    int64_t stake;
    const ix_causes_row *row = most_at_stake(&analysis->tables[IX_CAUSES_ROWS], &stake);
    uint32_t *list = malloc(MOST_LOOKED_AT * sizeof *list), count = 0, all = 0;
    int64_t *scratch = malloc(MOST_LOOKED_AT * sizeof *scratch);
    if (row && list && scratch) {
        for (uint32_t i = 0; i < view->count; i++)
            all += view->ops[i].site == row->site && view->ops[i].operation == row->operation;
        uint32_t skipped = all > MOST_LOOKED_AT ? (all - MOST_LOOKED_AT) / 2 : 0;
        for (uint32_t i = 0; i < view->count && count < MOST_LOOKED_AT; i++) {
            const ix_op *op = &view->ops[i];
            if (op->site != row->site || op->operation != row->operation)
                continue;
            if (skipped)
                skipped--;
            else if (op->flags & IX_LOG_FIRST)
                list[count++] = i;
        }
    }
    if (count) {
        const ix_op *op = &view->ops[most_typical(view, list, count, scratch)];
        p = (ix_proposal){stake, op->enter_ns + (op->exit_ns - op->enter_ns) / 2};
    }
    free(list);
    free(scratch);
    return p;
}

/* How many records of a thread were entered by `enter_ns` and left from `exit_ns` on: they stand
 * one behind the other. */
static uint32_t between(const ix_view *view, uint32_t thread, int64_t exit_ns, int64_t enter_ns)
{
    uint32_t first = view->first[thread], end = view->first[thread + 1];
    for (uint32_t high = end; first < high;) { /* the first that was left by then */
        uint32_t middle = first + (high - first) / 2;
        if (view->ops[middle].exit_ns < exit_ns)
            first = middle + 1;
        else
            high = middle;
    }
    uint32_t last = first;
    while (last < end) { /* the first that was entered later */
        uint32_t middle = last + (end - last) / 2;
        if (view->ops[middle].enter_ns <= enter_ns)
            last = middle + 1;
        else
            end = middle;
    }
    return last - first;
}

int64_t ix_excerpt_reach(const ix_view *view, int64_t at_ns, uint32_t most)
{
    int64_t low = 0, high = IX_LONGEST_NS;
    if (view->count <= most)
        return INT64_MAX;
    while (low < high) { /* the largest reach with at most that many */
        int64_t middle = low + (high - low + 1) / 2;
        uint32_t count = 0;
        for (uint32_t thread = 0; thread < IX_VIEW_THREADS && count <= most; thread++)
            count += between(view, thread, at_ns - middle, at_ns + middle);
        if (count <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t known(int64_t time_ns)
{
    return time_ns == INT64_MAX ? -1 : time_ns;
}

static void put_other_side(ix_timeline_row *row, const ix_op *op, const ix_match *m)
{
    int message = ix_is_send(op) || op->kind == IX_LOG_RECV || op->kind == IX_LOG_PROBE;
    row->match = m->state;
    row->peer = message || m->state == IX_MATCHED ? m->peer : -1;
    if (row->peer < 0)
        row->peer = -1;
    if (m->state != IX_MATCHED)
        return;
    row->error_ns = m->error_ns;
    if (ix_is_collective(op)) {
        int root = op->kind == IX_LOG_FROM_ROOT && !m->is_root;
        row->peer_enter_ns = root ? m->all.root_enter : m->all.last_enter;
        row->peer_exit_ns = m->all.last_exit;
    } else {
        row->peer_enter_ns = known(m->other.start_enter);
        row->peer_exit_ns = known(m->other.end_exit);
    }
}

static void put_transfer(ix_timeline_row *row, const ix_view *view, uint32_t i,
                         const ix_transfer_facts *facts)
{
    if (!ix_is_transfer(&view->ops[i]) || !facts->time.calibrated)
        return;
    ix_evidence e = ix_evidence_of(view, i, facts);
    row->x_lo_ns = facts->time.x_lo_ns;
    row->x_hi_ns = facts->time.x_hi_ns;
    row->hidden = (ix_interval){e.expected.overlap_min_ns, e.expected.overlap_max_ns};
    row->exposed = (ix_interval){e.expected.exposed_min_ns, e.expected.exposed_max_ns};
}

static int add_row(ix_rows *rows, const ix_view *view, uint32_t i, const ix_completions *c,
                   ix_known_facts *known_facts)
{
    const ix_op *op = &view->ops[i];
    ix_timeline_row *row = ix_rows_append(rows);
    if (!row)
        return -1;
    *row = (ix_timeline_row){.rank = view->rank,
                             .site = op->site,
                             .operation = op->operation,
                             .section = op->section,
                             .kind = op->kind,
                             .path = op->path,
                             .thread = op->thread,
                             .flags = op->flags,
                             .comm = op->comm,
                             .tag = ix_is_group_epoch(op->kind) ? 0 : op->tag,
                             .sequence = op->sequence,
                             .bytes = ix_most(0, op->bytes),
                             .enter_ns = op->enter_ns,
                             .exit_ns = op->exit_ns,
                             .end_enter_ns = -1,
                             .end_exit_ns = -1,
                             .peer_enter_ns = -1,
                             .peer_exit_ns = -1};
    if (op->end_call != IX_NO_END) {
        row->end_enter_ns = view->ops[op->end_call].enter_ns;
        row->end_exit_ns = view->ops[op->end_call].exit_ns;
    }
    put_other_side(row, op, &view->matches[i]);
    if (ix_is_completed_by_call(op)) {
        ix_transfer_facts facts = *ix_known_facts_of(known_facts, i);
        facts.alone = (uint8_t)ix_completed_alone(c, view, i);
        put_transfer(row, view, i, &facts);
    }
    if (c->head[i] != i)
        return 0;
    uint32_t count = ix_completions_of(c, i, known_facts);
    ix_call_causes causes = ix_causes_of(view, i, c->of_one, count);
    for (int k = 0; k < IX_CAUSES; k++)
        row->part[k] = causes.part[k];
    row->lost_overlap = causes.lost_overlap;
    const ix_polled *polls = ix_view_polls(view, i);
    if (polls)
        row->enter_ns = ix_least(polls->since_ns, op->enter_ns);
    return 0;
}

int ix_excerpt_rows(ix_analysis *analysis, const ix_view *view, int64_t from_ns, int64_t to_ns,
                    ix_facts_of *facts, const void *context)
{
    const ix_completions *c = &analysis->completions;
    ix_known_facts *known_facts = ix_known_facts_new(view, facts, context);
    int bad = !known_facts;
    for (uint32_t i = 0; i < view->count && !bad; i++)
        if (view->ops[i].exit_ns >= from_ns && view->ops[i].enter_ns <= to_ns)
            bad = add_row(&analysis->tables[IX_TIMELINE_ROWS], view, i, c, known_facts);
    free(known_facts);
    return bad ? -1 : 0;
}
