#include "analysis/analyze.h"

#include <stdlib.h>
#include <string.h>

static int8_t size_class(int64_t bytes)
{
    return (int8_t)(63 - __builtin_clzll((uint64_t)bytes));
}

static void add_bounds(int64_t *sums, const ix_bounds *b)
{
    sums[0] += b->overlap_min_ns;
    sums[1] += b->overlap_max_ns;
    sums[2] += b->exposed_min_ns;
    sums[3] += b->exposed_max_ns;
}

static int add_evidence(ix_analysis *a, const ix_view *view, uint32_t i,
                        const ix_transfer_facts *facts)
{
    const ix_op *op = &view->ops[i];
    ix_evidence_row key = {.rank = view->rank,
                           .site = op->site,
                           .operation = op->operation,
                           .section = op->section,
                           .size_class = size_class(op->bytes),
                           .path = op->path};
    ix_evidence_row *row = ix_rows_at(&a->tables[IX_EVIDENCE_ROWS], &key);
    if (!row)
        return -1;
    ix_evidence e = ix_evidence_of(view, i, facts);
    row->transfers++;
    row->matched += e.is_matched;
    row->expected += e.is_expected;
    row->contradicted += e.contradicted;
    row->bytes += op->bytes;
    row->transfer_min_ns += facts->time.x_lo_ns;
    row->transfer_max_ns += facts->time.x_hi_ns;
    add_bounds(row->bounds, &e.call);
    add_bounds(row->bounds + 4, &e.matched);
    add_bounds(row->bounds + 8, &e.expected);
    return 0;
}

static int add_partner(ix_analysis *a, const ix_view *view, int32_t peer, int64_t messages,
                       int64_t bytes, ix_interval late)
{
    ix_partners_row key = {.rank = view->rank, .peer = peer};
    ix_partners_row *row = peer < 0 ? NULL : ix_rows_at(&a->tables[IX_PARTNERS_ROWS], &key);
    if (!row)
        return peer < 0 ? 0 : -1;
    row->messages += messages;
    row->bytes += bytes;
    row->late.min_ns += late.min_ns;
    row->late.max_ns += late.max_ns;
    return 0;
}

/* What each transfer gives by itself. */
static int add_transfers(ix_analysis *a, const ix_view *view, const ix_completions *c,
                         ix_known_facts *known)
{
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        const ix_match *m = &view->matches[i];
        int message = ix_is_send(op) || op->kind == IX_LOG_RECV;
        if (!ix_is_completed_by_call(op))
            continue;
        /* The transfers of a partitioned send are its partitions. */
        if (op->kind != IX_LOG_PROBE && op->kind != IX_LOG_PART_ARRIVED &&
            !ix_is_group_epoch(op->kind) && op->kind != IX_LOG_PARTS_SEND)
            a->states[m->state]++;
        if (m->state == IX_MATCHED)
            a->largest_error_ns = ix_most(a->largest_error_ns, m->error_ns);
        if (message && add_partner(a, view, m->peer, 1, op->bytes, (ix_interval){0}))
            return -1;
        if (!ix_is_transfer(op))
            continue;
        ix_transfer_facts facts = *ix_known_facts_of(known, i);
        facts.alone = (uint8_t)ix_completed_alone(c, view, i);
        if (add_evidence(a, view, i, &facts))
            return -1;
    }
    return 0;
}

static void add_interval(ix_interval *sum, const ix_interval *more)
{
    sum->min_ns += more->min_ns;
    sum->max_ns += more->max_ns;
}

static int add_causes(ix_analysis *a, const ix_view *view, uint32_t call, const ix_call_causes *c)
{
    const ix_op *op = &view->ops[call];
    ix_causes_row key = {
        .rank = view->rank, .site = op->site, .operation = op->operation, .section = op->section};
    ix_causes_row *row = ix_rows_at(&a->tables[IX_CAUSES_ROWS], &key);
    if (!row)
        return -1;
    row->logged++;
    row->count++;
    row->call_ns += op->exit_ns - op->enter_ns + c->polled_ns;
    for (int k = 0; k < IX_CAUSES; k++)
        add_interval(&row->part[k], &c->part[k]);
    add_interval(&row->gainable, &c->gainable);
    add_interval(&row->lost_overlap, &c->lost_overlap);
    add_interval(&row->undriven, &c->undriven);
    return 0;
}

static int same_start(const ix_op *a, const ix_op *b)
{
    return a->site == b->site && a->operation == b->operation;
}

/* The time of a completing call by the starts that it completed: who came last is one of them; what
 * moved then is told of all, unless they are from one place. */
static int add_waits(ix_analysis *a, const ix_view *view, uint32_t call,
                     const ix_completed *completed, uint32_t count, const ix_call_causes *c)
{
    const ix_op *op = &view->ops[call];
    if (op->kind != IX_LOG_COMPLETION)
        return 0;
    for (uint32_t k = 0; k < count; k++) {
        const ix_op *start = &view->ops[completed[k].op];
        ix_waits_row key = {.rank = view->rank,
                            .site = op->site,
                            .operation = op->operation,
                            .start_operation = start->operation,
                            .start_site = start->site};
        ix_waits_row *row = ix_rows_at(&a->tables[IX_WAITS_ROWS], &key);
        int first = 1, alone = 1;
        if (!row)
            return -1;
        row->count++;
        for (uint32_t n = 0; n < count && first; n++) {
            int same = same_start(start, &view->ops[completed[n].op]);
            first = !(same && n < k);
            alone = alone && same;
        }
        if (!first)
            continue;
        row->moving.max_ns += c->gainable.max_ns;
        row->moving.min_ns += alone ? c->gainable.min_ns : 0;
        if (alone || (c->latest != IX_NO_END && same_start(start, &view->ops[c->latest])))
            add_interval(&row->late, &c->late);
    }
    return 0;
}

static void add_to_overview(ix_overview *overview, const ix_view *view, uint32_t call,
                            const ix_call_causes *c)
{
    const ix_op *op = &view->ops[call];
    const ix_polled *polls = c->polled_ns ? ix_view_polls(view, call) : NULL;
    int64_t call_ns = op->exit_ns - op->enter_ns + c->polled_ns;
    int64_t from_ns = polls ? ix_least(polls->since_ns, op->exit_ns - call_ns) : op->enter_ns;
    ix_overview_add(overview, from_ns, op->exit_ns, call_ns, c->part);
}

static int add_calls(ix_analysis *a, const ix_view *view, const ix_completions *c,
                     ix_known_facts *known, ix_overview *overview)
{
    for (uint32_t i = 0; i < view->count; i++) {
        if (c->head[i] != i)
            continue;
        uint32_t count = ix_completions_of(c, i, known);
        ix_call_causes causes = ix_causes_of(view, i, c->of_one, count);
        if (add_causes(a, view, i, &causes) || add_waits(a, view, i, c->of_one, count, &causes) ||
            (causes.latest != IX_NO_END &&
             add_partner(a, view, view->matches[causes.latest].peer, 0, 0, causes.late)))
            return -1;
        if (overview)
            add_to_overview(overview, view, i, &causes);
    }
    return 0;
}

int ix_analyze(ix_analysis *analysis, const ix_view *view, ix_facts_of *facts, const void *context,
               ix_overview *overview)
{
    ix_completions *c = &analysis->completions;
    *analysis = (ix_analysis){0};
    for (int k = 0; k < IX_ROW_TABLES; k++)
        ix_rows_init(&analysis->tables[k], k);
    if (ix_completions_find(c, view))
        return -1;
    ix_known_facts *known = ix_known_facts_new(view, facts, context);
    int bad = !known || add_transfers(analysis, view, c, known) ||
              add_calls(analysis, view, c, known, overview);
    free(known);
    if (bad)
        ix_analysis_free(analysis);
    return bad ? -1 : 0;
}

/* The measured calls of a row, by the key of causes.npy; its parts stay zero. */
static int add_measured(ix_rows *measured, const ix_row *row, int32_t rank)
{
    ix_causes_row key = {
        .rank = rank, .site = row->site, .operation = row->operation, .section = row->section};
    ix_causes_row *sum = ix_rows_at(measured, &key);
    if (!sum)
        return -1;
    sum->count += row->count;
    sum->call_ns += row->call_ns;
    return 0;
}

static int add_rest(ix_analysis *a, const ix_view *view, const ix_causes_row *measured)
{
    ix_causes_row *row = ix_rows_at(&a->tables[IX_CAUSES_ROWS], measured);
    if (!row)
        return -1;
    int64_t rest = ix_most(0, measured->call_ns - row->call_ns);
    enum ix_waits waits = ix_view_waits(view, row->operation);
    enum ix_cause cause = ix_waits_for_nobody(waits) ? IX_LIBRARY
                          : waits == IX_WAITS_FILE   ? IX_FILE_IO
                                                     : IX_UNATTRIBUTED;
    ix_interval *part = &row->part[cause];
    add_interval(part, &(ix_interval){rest, rest});
    row->count = ix_most(row->count, measured->count);
    row->call_ns += rest;
    return 0;
}

int ix_analysis_rest(ix_analysis *analysis, const ix_view *view, const ix_row *rows, size_t count,
                     int64_t compute_ns)
{
    ix_rows measured;
    int bad = 0;
    ix_rows_init(&measured, IX_CAUSES_ROWS);
    for (size_t i = 0; i < count && !bad; i++)
        if (rows[i].count)
            bad = add_measured(&measured, &rows[i], view->rank);
    for (size_t i = 0; i < measured.count && !bad; i++)
        bad = add_rest(analysis, view, (const ix_causes_row *)(void *)measured.rows + i);
    ix_rows_free(&measured);
    ix_causes_row *all = (void *)analysis->tables[IX_CAUSES_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_CAUSES_ROWS].count; i++) {
        ix_interval *gains[] = {&all[i].gainable, &all[i].lost_overlap};
        for (int k = 0; k < 2; k++) {
            gains[k]->min_ns = ix_least(gains[k]->min_ns, compute_ns);
            gains[k]->max_ns = ix_least(gains[k]->max_ns, compute_ns);
        }
    }
    return bad ? -1 : 0;
}

void ix_analysis_free(ix_analysis *analysis)
{
    ix_completions_free(&analysis->completions);
    for (int k = 0; k < IX_ROW_TABLES; k++)
        ix_rows_free(&analysis->tables[k]);
}
