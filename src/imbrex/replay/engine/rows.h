/* Rows of times, one for each of IX_LANES lanes. Only lanes that are `on` are written. */
#ifndef IMBREX_REPLAY_ENGINE_ROWS_H
#define IMBREX_REPLAY_ENGINE_ROWS_H

#include "engine.h"
#include "links.h"

enum { IX_ROW_BYTES = IX_LANES * sizeof(double) };

/* Which rows are free each order of lanes says for itself: what one has in a row, another has not
 * in the same lanes. */
typedef struct ix_rows {
    double *values;
    uint32_t room, *unused, unused_count;
    _Alignas(IX_LINE) uint64_t on[IX_LANES]; /* all ones, or 0 */
} ix_rows;

/* Room for so many rows; NULL: no memory. */
double *ix_rows_of(size_t count);

static inline double *ix_row_at(double *rows, uint64_t number)
{
    return rows + number * IX_LANES;
}

void ix_row_copy(double *restrict to, const double *restrict from, const uint64_t *restrict on);
void ix_row_add(double *restrict to, double ns, const uint64_t *restrict on);

/* Not before, and a time more. */
void ix_row_after(double *restrict to, const double *restrict at, double ns,
                  const uint64_t *restrict on);
void ix_row_not_before(double *restrict to, const double *restrict at);

#endif
