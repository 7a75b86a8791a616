/* Multigrid with one-sided exchanges, after the MG kernel of the NAS benchmarks: V-cycles for the
 * Poisson equation on a periodic cube. The ghost cells of a sweep are put by the neighbours, either
 * dimension after dimension with blocking calls, or all at once with nonblocking ones, while the
 * cells that need no ghosts are swept.
 *
 * The right-hand side is the discrete Laplacian of a known field, so the error goes to zero; the
 * sweeps are Jacobi's, so neither the variant nor the number of ranks changes a bit of it. */
#include <math.h>

#include "../common/options.h"
#include "grid.h"

enum { LEVELS_MAX = 12, SWEEPS = 2, COARSE_SWEEPS = 40 };

struct solver {
    struct layout layout;
    struct level level[LEVELS_MAX];
    int levels;
    int nonblocking;
};

/* One damped Jacobi step for the cells from `low` up to `high`, from the current field to the
 * other. */
static void sweep_box(struct level *l, const int low[3], const int high[3])
{
    const double damping = 6.0 / 7.0, h2 = l->width * l->width;
    const double *u = l->field[l->now], *f = l->right;
    double *next = l->field[1 - l->now];
    int row = l->pitch[0], plane = l->pitch[1];
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int i = at(l, low[0], y, z); i <= at(l, high[0], y, z); i++) {
                double sum = (u[i - 1] + u[i + 1]) + (u[i - row] + u[i + row]) +
                             (u[i - plane] + u[i + plane]);
                next[i] = u[i] + damping * ((sum - h2 * f[i]) * (1.0 / 6.0) - u[i]);
            }
}

/* The cells next to ghosts: a layer below and above in each dimension, each cell once. */
static void sweep_shell(struct level *l)
{
    int low[3] = {1, 1, 1}, high[3] = {l->n[0], l->n[1], l->n[2]};
    for (int d = 2; d >= 0; d--) {
        int first[3] = {low[0], low[1], low[2]}, last[3] = {high[0], high[1], high[2]};
        last[d] = low[d];
        sweep_box(l, first, last);
        if (high[d] > low[d]) {
            first[d] = last[d] = high[d];
            sweep_box(l, first, last);
        }
        low[d]++;
        high[d]--;
    }
}

static void sweep(struct solver *s, struct level *l)
{
    if (s->nonblocking) {
        armci_hdl_t handles[FACES];
        exchange_begin(l, &s->layout, handles);
        sweep_box(l, (int[]){2, 2, 2}, (int[]){l->n[0] - 1, l->n[1] - 1, l->n[2] - 1});
        exchange_end(handles);
        sweep_shell(l);
    } else {
        exchange_blocking(l, &s->layout);
        sweep_box(l, (int[]){1, 1, 1}, l->n);
    }
    l->now = 1 - l->now;
}

/* What is left of the right-hand side, per coarse cell the mean of its eight. Needs fresh ghosts.
 * The coarse field starts from zero. */
static void restrict_residual(const struct level *fine, struct level *coarse)
{
    const double scale = 1.0 / (fine->width * fine->width);
    const double *u = fine->field[fine->now], *f = fine->right;
    double *start = coarse->field[coarse->now];
    for (int z = 1; z <= coarse->n[2]; z++)
        for (int y = 1; y <= coarse->n[1]; y++)
            for (int x = 1; x <= coarse->n[0]; x++) {
                double sum = 0.0;
                for (int corner = 0; corner < 8; corner++) {
                    int i = at(fine, 2 * x - 1 + (corner & 1), 2 * y - 1 + (corner >> 1 & 1),
                               2 * z - 1 + (corner >> 2));
                    double neighbours = (u[i - 1] + u[i + 1]) +
                                        (u[i - fine->pitch[0]] + u[i + fine->pitch[0]]) +
                                        (u[i - fine->pitch[1]] + u[i + fine->pitch[1]]);
                    sum += f[i] - scale * (neighbours - 6.0 * u[i]);
                }
                coarse->right[at(coarse, x, y, z)] = 0.125 * sum;
                start[at(coarse, x, y, z)] = 0.0;
            }
}

/* Each fine cell lies a quarter of a coarse one off the middle in every dimension: the mean of its
 * coarse cell and the three nearest ones is exact for linear fields. Needs fresh coarse ghosts. */
static void add_correction(const struct level *coarse, struct level *fine)
{
    const double *v = coarse->field[coarse->now];
    double *u = fine->field[fine->now];
    for (int z = 1; z <= fine->n[2]; z++)
        for (int y = 1; y <= fine->n[1]; y++)
            for (int x = 1; x <= fine->n[0]; x++) {
                int i = at(coarse, (x + 1) / 2, (y + 1) / 2, (z + 1) / 2);
                int dx = x % 2 ? -1 : 1, dy = y % 2 ? -1 : 1, dz = z % 2 ? -1 : 1;
                u[at(fine, x, y, z)] +=
                    0.25 * ((v[i] + v[i + dx]) +
                            (v[i + dy * coarse->pitch[0]] + v[i + dz * coarse->pitch[1]]));
            }
}

static void cycle(struct solver *s, int depth)
{
    struct level *l = &s->level[depth];
    if (depth == s->levels - 1) {
        for (int i = 0; i < COARSE_SWEEPS; i++)
            sweep(s, l);
        return;
    }
    for (int i = 0; i < SWEEPS; i++)
        sweep(s, l);
    exchange_blocking(l, &s->layout);
    restrict_residual(l, l + 1);
    cycle(s, depth + 1);
    exchange_blocking(l + 1, &s->layout);
    add_correction(l + 1, l);
    for (int i = 0; i < SWEEPS; i++)
        sweep(s, l);
}

/* sin(2 pi x) in the middle of cell `i` of `n`, and of others: a product of three, mean zero. */
static double known(const struct solver *s, int x, int y, int z)
{
    const struct level *l = &s->level[0];
    const int *b = s->layout.blocks;
    int rank = s->layout.rank;
    int cell[3] = {x + l->n[0] * (rank % b[0]), y + l->n[1] * (rank / b[0] % b[1]),
                   z + l->n[2] * (rank / (b[0] * b[1]))};
    double pi2 = 2.0 * acos(-1.0), value = 1.0;
    for (int d = 0; d < 3; d++)
        value *= sin((d + 1) * pi2 * (cell[d] - 0.5) * l->width) + (d == 1 ? 0.25 : 0.0);
    return value;
}

static void make_right_side(struct solver *s)
{
    struct level *l = &s->level[0];
    double scale = 1.0 / (l->width * l->width);
    for (int z = 1; z <= l->n[2]; z++)
        for (int y = 1; y <= l->n[1]; y++)
            for (int x = 1; x <= l->n[0]; x++)
                l->right[at(l, x, y, z)] =
                    scale * (known(s, x - 1, y, z) + known(s, x + 1, y, z) + known(s, x, y - 1, z) +
                             known(s, x, y + 1, z) + known(s, x, y, z - 1) + known(s, x, y, z + 1) -
                             6.0 * known(s, x, y, z));
}

static double largest_error(struct solver *s)
{
    const struct level *l = &s->level[0];
    double largest = 0.0, result;
    for (int z = 1; z <= l->n[2]; z++)
        for (int y = 1; y <= l->n[1]; y++)
            for (int x = 1; x <= l->n[0]; x++)
                largest = fmax(largest, fabs(l->field[l->now][at(l, x, y, z)] - known(s, x, y, z)));
    MPI_Allreduce(&largest, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

int main(int argc, char **argv)
{
    long n = 32, cycles = 8, coarsest = 8;
    const char *variant = "blocking";
    const struct app_option options[] = {
        {"n", OPTION_LONG, &n, "cells along each edge: a power of two times --coarsest"},
        {"coarsest", OPTION_LONG, &coarsest, "cells along each edge of the coarsest level"},
        {"cycles", OPTION_LONG, &cycles, "V-cycles"},
        {"variant", OPTION_TEXT, &variant, "blocking or nonblocking"},
    };
    struct solver s = {0};
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "mgarmci: multigrid with one-sided exchanges", options, 4);
    layout_make(&s.layout);
    s.nonblocking = strcmp(variant, "nonblocking") == 0;
    if (!s.nonblocking && strcmp(variant, "blocking") != 0)
        options_refuse(s.layout.rank, "no such variant", variant);
    for (long cells = n; cells >= coarsest && s.levels < LEVELS_MAX; cells /= 2) {
        s.levels++;
        if (cells == coarsest || cells % 2)
            break;
    }
    int fits = coarsest >= 2 && n >= coarsest && n == coarsest << (s.levels - 1);
    for (int d = 0; d < 3; d++)
        fits = fits && coarsest % s.layout.blocks[d] == 0 && coarsest / s.layout.blocks[d] >= 2;
    if (!fits)
        options_refuse(s.layout.rank, "these ranks cannot share the levels of", "--n, --coarsest");
    ARMCI_Init();
    for (int i = 0; i < s.levels; i++)
        level_make(&s.level[i], &s.layout, (int)(n >> i));
    make_right_side(&s);
    ARMCI_Barrier();

    double before = largest_error(&s), start = MPI_Wtime();
    for (long i = 0; i < cycles; i++)
        cycle(&s, 0);
    double seconds = MPI_Wtime() - start, error = largest_error(&s);
    if (s.layout.rank == 0)
        printf("mgarmci: %ld^3 cells, %d levels, %ld cycles, %d x %d x %d ranks, variant %s\n"
               "time: %.6f s, error %.3e, at the start %.3e\n",
               n, s.levels, cycles, s.layout.blocks[0], s.layout.blocks[1], s.layout.blocks[2],
               variant, seconds, error, before);
    int status =
        verification(s.layout.rank, error <= fmax(before * pow(0.5, (double)cycles), 1e-12), error);
    for (int i = 0; i < s.levels; i++)
        level_free(&s.level[i], &s.layout);
    ARMCI_Finalize();
    MPI_Finalize();
    return status;
}
