#include "rows.h"

#include <stdlib.h>

#include "wide.h"

double *ix_rows_of(size_t count)
{
    return aligned_alloc(IX_LINE, (count + 1) * IX_ROW_BYTES);
}

WIDE void ix_row_copy(double *restrict to, const double *restrict from, const uint64_t *restrict on)
{
    for (int k = 0; k < IX_LANES; k++)
        to[k] = on[k] ? from[k] : to[k];
}

WIDE void ix_row_add(double *restrict to, double ns, const uint64_t *restrict on)
{
    for (int k = 0; k < IX_LANES; k++)
        to[k] = on[k] ? to[k] + ns : to[k];
}

WIDE void ix_row_after(double *restrict to, const double *restrict at, double ns,
                       const uint64_t *restrict on)
{
    for (int k = 0; k < IX_LANES; k++) {
        double after = (at[k] > to[k] ? at[k] : to[k]) + ns;
        to[k] = on[k] ? after : to[k];
    }
}

WIDE void ix_row_not_before(double *restrict to, const double *restrict at)
{
    for (int k = 0; k < IX_LANES; k++)
        to[k] = at[k] > to[k] ? at[k] : to[k];
}
