#include "analysis/partitions.h"

#include <stdlib.h>

#include "analysis/rows.h"
#include "core/bounds.h"

/* One start of a partitioned send, or of a receive. */
typedef struct started {
    int32_t peer, tag;
    uint32_t comm, sequence;
    int64_t bytes;        /* that became ready */
    uint32_t start;       /* its record + 1; 0: none was seen */
    uint32_t first, last; /* the records of the MPI_Pready that were entered first and last */
} started;

enum { KEY_BYTES = 16 };

static int has_partner(const ix_op *op)
{
    return op->peer != IX_LOG_PROC_NULL && op->sequence != 0;
}

static started key_of(const ix_op *op)
{
    return (started){.peer = op->peer, .tag = op->tag, .comm = op->comm, .sequence = op->sequence};
}

/* The starts of a kind, of sends with the MPI_Pready of their partitions, which threads may make
 * ready in any order of the log. */
static int gather(const ix_view *view, uint32_t start_kind, ix_rows *starts)
{
    uint32_t ready_kind = start_kind == IX_LOG_PARTS_SEND ? IX_LOG_PART_READY : start_kind;
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if ((op->kind != start_kind && op->kind != ready_kind) || !has_partner(op))
            continue;
        started key = key_of(op), *s = ix_rows_at(starts, &key);
        if (!s)
            return -1;
        if (op->kind == start_kind) {
            s->start = i + 1;
        } else {
            if (s->bytes == 0 || op->enter_ns > view->ops[s->last].enter_ns)
                s->last = i;
            if (s->bytes == 0 || op->enter_ns < view->ops[s->first].enter_ns)
                s->first = i;
            s->bytes += op->bytes;
        }
    }
    return 0;
}

static uint32_t count_of(const ix_view *view, uint32_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->count; i++)
        count += view->ops[i].kind == kind;
    return count;
}

int ix_find_ready(const ix_view *view, ix_ready **ready)
{
    *ready = NULL;
    if (!count_of(view, IX_LOG_PARTS_SEND))
        return 0;
    ix_rows starts = ix_rows_of(sizeof(started), KEY_BYTES);
    *ready = malloc((view->count + (size_t)1) * sizeof **ready);
    int bad = !*ready || gather(view, IX_LOG_PARTS_SEND, &starts);
    for (uint32_t i = 0; i < view->count && !bad; i++)
        (*ready)[i] = (ix_ready){IX_NO_END, IX_NO_END};
    for (size_t k = 0; k < starts.count && !bad; k++) {
        const started *s = (const started *)(const void *)starts.rows + k;
        if (s->start && s->bytes > 0 && s->bytes == view->ops[s->start - 1].bytes)
            (*ready)[s->start - 1] = (ix_ready){s->first, s->last};
    }
    ix_rows_free(&starts);
    return bad ? -1 : 0;
}

/* The match of the start that a record of `kind` is about goes to that record. */
static void match_as_start(ix_view *view, const ix_rows *starts, uint32_t kind)
{
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (op->kind != kind)
            continue;
        started key = key_of(op);
        const started *s = ix_rows_find(starts, &key);
        if (s && s->start)
            view->matches[i] = view->matches[s->start - 1];
        else
            view->matches[i] = (ix_match){.state = IX_AMBIGUOUS, .peer = -1};
    }
}

void ix_match_partitions(ix_view *view)
{
    static const uint32_t parts[] = {IX_LOG_PART_READY, IX_LOG_PART_ARRIVED};
    static const uint32_t of_starts[] = {IX_LOG_PARTS_SEND, IX_LOG_PARTS_RECV};
    for (int k = 0; k < 2; k++) {
        if (!count_of(view, parts[k]))
            continue;
        ix_rows starts = ix_rows_of(sizeof(started), KEY_BYTES);
        if (gather(view, of_starts[k], &starts)) { /* without memory no start is known */
            ix_rows_free(&starts);
            starts = ix_rows_of(sizeof(started), KEY_BYTES);
        }
        match_as_start(view, &starts, parts[k]);
        ix_rows_free(&starts);
    }
}
