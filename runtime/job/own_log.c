#include "job/own_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/call_logging.h"
#include "core/internal.h"
#include "generated/operations.h"

enum { OPEN_WINDOWS = 256 };

/* The next call that closes an epoch, seen from behind. */
typedef struct closing {
    uint32_t window;
    int32_t target; /* IX_LOG_NOBODY: all */
    uint32_t op;
} closing;

static int closes(const ix_op *op)
{
    static const char *const names[] = {"fence", "complete", "unlock", "flush"};
    if (op->kind != IX_LOG_EPOCH || op->operation >= IX_OP_COUNT)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(ix_operation_names[op->operation], names[i]))
            return 1;
    return 0;
}

/* One-sided transfers end with the next call of their thread that closes their window's epoch. */
static void end_one_sided(ix_view *view)
{
    closing open[OPEN_WINDOWS];
    int count = 0;
    for (uint32_t i = view->count; i-- > 0;) {
        ix_op *op = &view->ops[i];
        if (i + 1 < view->count && view->ops[i + 1].thread != op->thread)
            count = 0;
        if (closes(op)) {
            int k = 0;
            while (k < count && (open[k].window != op->comm || open[k].target != op->peer))
                k++;
            if (k < OPEN_WINDOWS)
                open[k] = (closing){op->comm, op->peer, i};
            count = k == count && k < OPEN_WINDOWS ? count + 1 : count;
        }
        if ((op->kind != IX_LOG_PUT && op->kind != IX_LOG_GET) || op->end_call != IX_NO_END)
            continue;
        for (int k = 0; k < count; k++)
            if (open[k].window == op->comm &&
                (open[k].target == IX_LOG_NOBODY || open[k].target == op->peer) &&
                open[k].op < op->end_call)
                op->end_call = open[k].op;
    }
}

static int32_t epoch_tag(const ix_log_record *record)
{
    int begins = record->operation == IX_OP_Win_post || record->operation == IX_OP_Win_start;
    return begins ? IX_EPOCH_BEGINS : IX_EPOCH_ENDS;
}

/* Ids become indices. */
static void link_ends(ix_view *view, const ix_log_reader *reader, const uint32_t *index_of)
{
    uint32_t near = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        ix_op *op = &view->ops[i];
        uint32_t id = op->end_call, at = UINT32_MAX;
        if (id != IX_LOG_OPEN && id != IX_LOG_END_UNSEEN)
            at = ix_log_position(reader, id, near);
        near = at == UINT32_MAX ? near : at;
        op->end_call = at == UINT32_MAX ? IX_NO_END : index_of[at];
        if (op->kind == IX_LOG_PROBE || op->kind == IX_LOG_EPOCH || op->kind == IX_LOG_COMPLETION ||
            op->kind == IX_LOG_PART_READY)
            op->end_call = op->kind == IX_LOG_PART_READY ? op->end_call : i;
    }
}

static void read_ends(ix_view *view)
{
    const ix_part_header *part = ix_part();
    const ix_part_thread *threads = (const void *)((const char *)part + part->threads.offset);
    for (uint64_t i = 0; i < part->threads.used && i < IX_VIEW_THREADS; i++)
        view->ends[i] = (ix_thread_end){threads[i].last_exit_ns, threads[i].call_ns};
    for (uint64_t i = 0; part->threads.used > 1 && i < part->threads.used; i++) {
        const ix_thread *t = &ix_engine.threads[i];
        int64_t since_ns = t->last_ns - ix_engine.start_ns;
        if (t->state & IX_DEPTH &&
            (!view->receiving_since_ns || since_ns < view->receiving_since_ns))
            view->receiving_since_ns = since_ns > 0 ? since_ns : 1;
    }
}

int ix_own_log(ix_view *view, uint32_t level)
{
    ix_log_reader reader;
    char error[128];
    const ix_log_header *log = ix_log();
    *view = (ix_view){.rank = ix_part() ? ix_part()->rank.rank : 0,
                      .operations = ix_operation_names,
                      .waits = ix_operation_waits,
                      .operation_count = IX_OP_COUNT};
    if (!log || ix_log_open(&reader, log, log->bytes, level, error, sizeof error))
        return -1;
    uint32_t positions = ix_log_positions(&reader), id = 0;
    uint32_t *index_of = malloc((positions + (size_t)1) * sizeof *index_of);
    view->ops = malloc((positions + (size_t)1) * sizeof *view->ops);
    view->matches = calloc(positions + (size_t)1, sizeof *view->matches);
    int bad = !index_of || !view->ops || !view->matches;
    ix_log_cursor cursor = {0};
    if (!bad)
        memset(index_of, 0xff, (positions + (size_t)1) * sizeof *index_of);
    uint32_t at = 0;
    for (const ix_log_record *record; !bad && (record = ix_log_next(&reader, &cursor, &id));) {
        if (record->thread >= IX_VIEW_THREADS - 1)
            continue; /* shared by all threads that found no number */
        if (record->kind == IX_LOG_POLLS)
            bad = ix_view_add_polls(view, record);
        if (record->kind == IX_LOG_POLLS || record->kind == IX_LOG_BLOCKS)
            continue; /* no part of the matching */
        at = ix_log_position(&reader, id, at);
        index_of[at] = view->count;
        view->ops[view->count] = *record;
        if (ix_is_group_epoch(record->kind))
            view->ops[view->count].tag = epoch_tag(record);
        if (record->kind == IX_LOG_PART_READY || record->kind == IX_LOG_PART_ARRIVED)
            view->ops[view->count].path &= IX_LOG_PATH_MASK;
        view->count++;
    }
    if (!bad) {
        link_ends(view, &reader, index_of);
        read_ends(view);
        ix_view_index(view);
        end_one_sided(view);
        view->whole = reader.level == 0 && log->lost == 0;
    }
    free(index_of);
    ix_log_close(&reader);
    if (bad)
        ix_own_log_free(view);
    return bad ? -1 : 0;
}

void ix_own_log_free(ix_view *view)
{
    free(view->ops);
    free(view->matches);
    free(view->polls);
    view->ops = NULL;
    view->matches = NULL;
    view->polls = NULL;
    view->count = view->polls_count = view->polls_room = 0;
    ix_view_index(view);
}
