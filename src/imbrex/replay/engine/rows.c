#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "wide.h"

double *ix_rows_of(const ix_rows *rows, size_t count)
{
    return aligned_alloc(IX_LINE, (count + 1) * ix_row_bytes(rows));
}

void ix_on_clear(ix_on *on, uint32_t width)
{
    on->begin = width;
    on->end = 0;
    memset(on->lane, 0, width * sizeof *on->lane);
}

void ix_on_add(ix_on *on, uint32_t lane)
{
    on->lane[lane] = UINT64_MAX;
    on->begin = lane < on->begin ? lane : on->begin;
    on->end = lane < on->end ? on->end : lane + 1;
}

void ix_on_join(ix_on *on, const ix_on *other)
{
    for (uint32_t k = other->begin; k < other->end; k++)
        on->lane[k] |= other->lane[k];
    on->begin = other->begin < on->begin ? other->begin : on->begin;
    on->end = other->end > on->end ? other->end : on->end;
}

WIDE void ix_row_copy(const ix_on *on, double *restrict to, const double *restrict from)
{
    const uint64_t *restrict lane = on->lane;
    for (uint32_t k = on->begin, end = on->end; k < end; k++)
        to[k] = lane[k] ? from[k] : to[k];
}

WIDE void ix_row_add(const ix_on *on, double *restrict to, double ns)
{
    const uint64_t *restrict lane = on->lane;
    for (uint32_t k = on->begin, end = on->end; k < end; k++)
        to[k] = lane[k] ? to[k] + ns : to[k];
}

WIDE void ix_row_after(const ix_on *on, double *restrict to, const double *restrict at, double ns)
{
    const uint64_t *restrict lane = on->lane;
    for (uint32_t k = on->begin, end = on->end; k < end; k++) {
        double after = (at[k] > to[k] ? at[k] : to[k]) + ns;
        to[k] = lane[k] ? after : to[k];
    }
}

WIDE void ix_row_not_before(const ix_on *on, double *restrict to, const double *restrict at)
{
    for (uint32_t k = on->begin, end = on->end; k < end; k++)
        to[k] = at[k] > to[k] ? at[k] : to[k];
}
