#include "analysis/partitions.h"

#include <stdlib.h>

#include "analysis/rows.h"
#include "core/bounds.h"

/* One start of a partitioned send. */
typedef struct started {
    int32_t peer, tag;
    uint32_t comm, sequence;
    int64_t bytes; /* that became ready */
    uint32_t send; /* its record + 1; 0: none was seen */
    uint32_t last; /* the record of the MPI_Pready that was entered last */
} started;

enum { KEY_BYTES = 16 };

static int is_part(const ix_op *op)
{
    return (op->kind == IX_LOG_PARTS_SEND || op->kind == IX_LOG_PART_READY) &&
           op->peer != IX_LOG_PROC_NULL && op->sequence != 0;
}

static started key_of(const ix_op *op)
{
    return (started){.peer = op->peer, .tag = op->tag, .comm = op->comm, .sequence = op->sequence};
}

/* Threads may make partitions ready in any order of the log. */
static int gather(const ix_view *view, ix_rows *starts)
{
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (!is_part(op))
            continue;
        started key = key_of(op), *s = ix_rows_at(starts, &key);
        if (!s)
            return -1;
        if (op->kind == IX_LOG_PARTS_SEND) {
            s->send = i + 1;
        } else {
            if (s->bytes == 0 || op->enter_ns > view->ops[s->last].enter_ns)
                s->last = i;
            s->bytes += op->bytes;
        }
    }
    return 0;
}

int ix_find_ready(const ix_view *view, uint32_t **ready)
{
    uint32_t sends = 0;
    *ready = NULL;
    for (uint32_t i = 0; i < view->count; i++)
        sends += view->ops[i].kind == IX_LOG_PARTS_SEND;
    if (!sends)
        return 0;
    ix_rows starts = ix_rows_of(sizeof(started), KEY_BYTES);
    *ready = malloc((view->count + (size_t)1) * sizeof **ready);
    int bad = !*ready || gather(view, &starts);
    for (uint32_t i = 0; i < view->count && !bad; i++)
        (*ready)[i] = IX_NO_END;
    for (size_t k = 0; k < starts.count && !bad; k++) {
        const started *s = (const started *)(const void *)starts.rows + k;
        if (s->send && s->bytes > 0 && s->bytes == view->ops[s->send - 1].bytes)
            (*ready)[s->send - 1] = s->last;
    }
    ix_rows_free(&starts);
    return bad ? -1 : 0;
}

void ix_match_partitions(ix_view *view)
{
    ix_rows starts = ix_rows_of(sizeof(started), KEY_BYTES);
    int bad = gather(view, &starts);
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        if (op->kind != IX_LOG_PART_READY)
            continue;
        started key = key_of(op);
        const started *s = bad ? NULL : ix_rows_find(&starts, &key);
        view->matches[i].state = s && s->send ? view->matches[s->send - 1].state : IX_AMBIGUOUS;
        view->matches[i].peer = s && s->send ? view->matches[s->send - 1].peer : -1;
    }
    ix_rows_free(&starts);
}
