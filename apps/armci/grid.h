/* One level of a multigrid on a periodic cube of cells, cut into blocks, with a layer of ghost
 * cells that the neighbours write into with ARMCI_PutS. */
#ifndef ARMCI_GRID_H
#define ARMCI_GRID_H

#include <armci.h>

enum { FACES = 6 };

struct layout {
    int rank, size;
    int blocks[3];        /* of the cube, per dimension: x is the innermost */
    int neighbour[FACES]; /* rank behind face 2 * dimension + (upper side ? 1 : 0) */
};

struct level {
    int n[3];           /* cells of this rank, per dimension */
    int pitch[2];       /* doubles from one row, and from one plane, to the next */
    double width;       /* of a cell */
    double *right;      /* the right-hand side, shaped as the fields */
    double *field[2];   /* the solution before and after a sweep; others write their ghosts */
    double **fields[2]; /* the same of every rank */
    int now;            /* which field holds the solution */
};

static inline int at(const struct level *l, int x, int y, int z)
{
    return x + l->pitch[0] * y + l->pitch[1] * z;
}

void layout_make(struct layout *layout);
/* cells: of the whole cube along each edge. */
void level_make(struct level *level, const struct layout *layout, int cells);
void level_free(struct level *level, const struct layout *layout);

/* Bring the ghosts of the current field up to date, one dimension after the other. */
void exchange_blocking(struct level *level, const struct layout *layout);
/* The same in two parts: between them the ghosts are not read, and the field is not written. */
void exchange_begin(struct level *level, const struct layout *layout, armci_hdl_t handles[FACES]);
void exchange_end(armci_hdl_t handles[FACES]);

#endif
