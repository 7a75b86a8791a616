#include "grid.h"

#include <stdlib.h>

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return memory;
}

void layout_make(struct layout *layout)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &layout->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &layout->size);
    int dims[3] = {0, 0, 0}; /* MPI gives the first the most: the slowest index, here z */
    MPI_Dims_create(layout->size, 3, dims);
    for (int d = 0; d < 3; d++)
        layout->blocks[d] = dims[2 - d];
    const int *b = layout->blocks;
    int mine[3] = {layout->rank % b[0], layout->rank / b[0] % b[1], layout->rank / (b[0] * b[1])};
    for (int face = 0; face < FACES; face++) {
        int there[3] = {mine[0], mine[1], mine[2]}, d = face / 2;
        there[d] = (mine[d] + (face % 2 ? 1 : b[d] - 1)) % b[d];
        layout->neighbour[face] = there[0] + b[0] * (there[1] + b[1] * there[2]);
    }
}

void level_make(struct level *level, const struct layout *layout, int cells)
{
    for (int d = 0; d < 3; d++)
        level->n[d] = cells / layout->blocks[d];
    level->pitch[0] = level->n[0] + 2;
    level->pitch[1] = level->pitch[0] * (level->n[1] + 2);
    level->width = 1.0 / cells;
    level->now = 0;
    size_t doubles = (size_t)level->pitch[1] * (size_t)(level->n[2] + 2);
    level->right = need(doubles, sizeof(double));
    for (int i = 0; i < 2; i++) {
        level->fields[i] = need((size_t)layout->size, sizeof(double *));
        if (ARMCI_Malloc((void **)level->fields[i], (armci_size_t)(doubles * sizeof(double))))
            MPI_Abort(MPI_COMM_WORLD, 3);
        level->field[i] = level->fields[i][layout->rank];
        for (size_t k = 0; k < doubles; k++)
            level->field[i][k] = 0.0;
    }
}

void level_free(struct level *level, const struct layout *layout)
{
    for (int i = 0; i < 2; i++) {
        ARMCI_Free(level->fields[i][layout->rank]);
        free(level->fields[i]);
    }
    free(level->right);
}

/* What one face needs of a strided put: from the outermost cells into the neighbour's ghosts. */
struct put {
    double *from, *to;
    int strides[2], count[3], levels;
};

static struct put put_of(const struct level *l, const struct layout *layout, int face)
{
    enum { DOUBLE = sizeof(double) };
    int d = face / 2, upper = face % 2;
    int cell[3] = {1, 1, 1}, ghost[3] = {1, 1, 1};
    cell[d] = upper ? l->n[d] : 1;
    ghost[d] = upper ? 0 : l->n[d] + 1;
    struct put p = {.from = l->field[l->now] + at(l, cell[0], cell[1], cell[2]),
                    .to = l->fields[l->now][layout->neighbour[face]] +
                          at(l, ghost[0], ghost[1], ghost[2])};
    int row = l->pitch[0] * DOUBLE, plane = l->pitch[1] * DOUBLE;
    if (d == 0)
        p = (struct put){p.from, p.to, {row, plane}, {DOUBLE, l->n[1], l->n[2]}, 2};
    else if (d == 1)
        p = (struct put){p.from, p.to, {plane, 0}, {l->n[0] * DOUBLE, l->n[2], 0}, 1};
    else
        p = (struct put){p.from, p.to, {row, 0}, {l->n[0] * DOUBLE, l->n[1], 0}, 1};
    return p;
}

void exchange_blocking(struct level *level, const struct layout *layout)
{
    for (int face = 0; face < FACES; face++) {
        struct put p = put_of(level, layout, face);
        ARMCI_PutS(p.from, p.strides, p.to, p.strides, p.count, p.levels, layout->neighbour[face]);
        if (face % 2)
            ARMCI_Barrier();
    }
}

void exchange_begin(struct level *level, const struct layout *layout, armci_hdl_t handles[FACES])
{
    for (int face = 0; face < FACES; face++) {
        struct put p = put_of(level, layout, face);
        ARMCI_INIT_HANDLE(&handles[face]);
        ARMCI_NbPutS(p.from, p.strides, p.to, p.strides, p.count, p.levels, layout->neighbour[face],
                     &handles[face]);
    }
}

void exchange_end(armci_hdl_t handles[FACES])
{
    for (int face = 0; face < FACES; face++)
        ARMCI_Wait(&handles[face]);
    ARMCI_Barrier();
}
