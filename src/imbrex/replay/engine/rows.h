/* Rows of times, one for each lane. Only lanes that are `on` are written. */
#ifndef IMBREX_REPLAY_ENGINE_ROWS_H
#define IMBREX_REPLAY_ENGINE_ROWS_H

#include "engine.h"
#include "links.h"

/* Some of the lanes. */
typedef struct ix_on {
    uint32_t begin, end;                            /* all are between */
    _Alignas(IX_LINE) uint64_t lane[IX_MOST_LANES]; /* all ones, or 0 */
} ix_on;

/* Which rows are free each order of lanes says for itself: what one has in a row, another has not
 * in the same lanes. */
typedef struct ix_rows {
    double *values;
    uint32_t room, *unused, unused_count;
    uint32_t width; /* lanes of a row */
    size_t most_bytes;
    const ix_on *on;
} ix_rows;

/* Room for so many rows; NULL: no memory. */
double *ix_rows_of(const ix_rows *rows, size_t count);

/* No lane; another one; those of another, too. */
void ix_on_clear(ix_on *on, uint32_t width);
void ix_on_add(ix_on *on, uint32_t lane);
void ix_on_join(ix_on *on, const ix_on *other);

static inline size_t ix_row_bytes(const ix_rows *rows)
{
    return rows->width * sizeof(double);
}

static inline double *ix_row_at(const ix_rows *rows, double *of, uint64_t number)
{
    return of + number * rows->width;
}

void ix_row_copy(const ix_on *on, double *restrict to, const double *restrict from);
void ix_row_add(const ix_on *on, double *restrict to, double ns);

/* Not before, and a time more. */
void ix_row_after(const ix_on *on, double *restrict to, const double *restrict at, double ns);

/* Of all lanes between the first and the last. */
void ix_row_not_before(const ix_on *on, double *restrict to, const double *restrict at);

#endif
