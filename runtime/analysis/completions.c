#include "analysis/completions.h"

#include <stdlib.h>

int ix_is_completed_by_call(const ix_op *op)
{
    return op->kind != IX_LOG_COMPLETION && (op->kind != IX_LOG_EPOCH || ix_is_fence(op)) &&
           op->kind != IX_LOG_NONE && op->peer != IX_LOG_PROC_NULL;
}

void ix_completions_free(ix_completions *c)
{
    free(c->head);
    free(c->begin);
    free(c->list);
    free(c->of_one);
    *c = (ix_completions){0};
}

int ix_completions_find(ix_completions *c, const ix_view *view)
{
    uint32_t count = view->count, most = 0;
    *c = (ix_completions){.head = malloc((count + (size_t)1) * sizeof *c->head),
                          .begin = calloc(count + (size_t)2, sizeof *c->begin),
                          .list = malloc((count + (size_t)1) * sizeof *c->list)};
    if (!c->head || !c->begin || !c->list) {
        ix_completions_free(c);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++)
        c->head[i] = i == 0 || view->ops[i].flags & IX_LOG_FIRST ? i : c->head[i - 1];
    /* Counted one place further on, so that adding up leaves where each begins. */
    for (uint32_t i = 0; i < count; i++)
        if (ix_is_completed_by_call(&view->ops[i]) && view->ops[i].end_call != IX_NO_END)
            c->begin[c->head[view->ops[i].end_call] + 2]++;
    for (uint32_t i = 2; i < count + 2; i++) {
        most = c->begin[i] > most ? c->begin[i] : most;
        c->begin[i] += c->begin[i - 1];
    }
    for (uint32_t i = 0; i < count; i++)
        if (ix_is_completed_by_call(&view->ops[i]) && view->ops[i].end_call != IX_NO_END)
            c->list[c->begin[c->head[view->ops[i].end_call] + 1]++] = i;
    c->of_one = malloc((most + (size_t)1) * sizeof *c->of_one);
    if (!c->of_one)
        ix_completions_free(c);
    return c->begin ? 0 : -1;
}

uint32_t ix_completions_of(const ix_completions *c, uint32_t i, ix_known_facts *known)
{
    uint32_t count = c->begin[i + 1] - c->begin[i];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t op = c->list[c->begin[i] + k];
        c->of_one[k] = (ix_completed){op, *ix_known_facts_of(known, op)};
    }
    return count;
}

int ix_completed_alone(const ix_completions *c, const ix_view *view, uint32_t i)
{
    if (view->ops[i].end_call == IX_NO_END)
        return 0;
    uint32_t call = c->head[view->ops[i].end_call];
    return c->begin[call + 1] - c->begin[call] == 1;
}
