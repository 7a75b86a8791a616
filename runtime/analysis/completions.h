/* Which transfers each call saw complete. */
#ifndef IMBREX_ANALYSIS_COMPLETIONS_H
#define IMBREX_ANALYSIS_COMPLETIONS_H

#include "analysis/causes.h"
#include "analysis/known_facts.h"

/* Those of the call that begins at record i are list[begin[i] .. begin[i + 1]). */
typedef struct ix_completions {
    uint32_t *head; /* first record of a record's call */
    uint32_t *begin;
    uint32_t *list;       /* the records that began them */
    ix_completed *of_one; /* room for those of one call */
} ix_completions;

/* 0, or -1 without memory. */
int ix_completions_find(ix_completions *c, const ix_view *view);
void ix_completions_free(ix_completions *c);

/* Those of the call that begins at record `i`, with their facts, into c->of_one; returns how many.
 */
uint32_t ix_completions_of(const ix_completions *c, uint32_t i, ix_known_facts *known);

/* Whether the end of record `i` is that of a call. */
int ix_is_completed_by_call(const ix_op *op);

/* Whether record `i` is the only transfer that its call saw complete. */
int ix_completed_alone(const ix_completions *c, const ix_view *view, uint32_t i);

#endif
