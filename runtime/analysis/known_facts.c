#include "analysis/known_facts.h"

#include <stdlib.h>

ix_known_facts *ix_known_facts_new(const ix_view *view, ix_facts_of *facts_of, const void *context)
{
    ix_known_facts *known = calloc(1, sizeof *known);
    if (known) {
        known->view = view;
        known->facts_of = facts_of;
        known->context = context;
    }
    return known;
}

const ix_transfer_facts *ix_known_facts_of(ix_known_facts *known, uint32_t i)
{
    const ix_op *op = &known->view->ops[i];
    uint64_t kind = op->kind | (uint64_t)op->path << 8 | (uint64_t)op->operation << 16;
    uint64_t group = ix_is_collective(op) ? op->comm | (uint64_t)(uint32_t)op->peer << 32 : 0;
    uint64_t mixed = ((uint64_t)op->bytes ^ kind << 40 ^ group) * UINT64_C(0x9e3779b97f4a7c15);
    struct ix_facts_kept *kept = &known->kept[mixed >> 56];
    if (kept->kind != kind || kept->bytes != op->bytes || kept->group != group)
        *kept = (struct ix_facts_kept){kind, op->bytes, group,
                                       known->facts_of(known->context, known->view, i)};
    return &kept->facts;
}
