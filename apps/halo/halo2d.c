/* Heat conduction in a square plate with cold edges: explicit five-point stencil, blocks in two
 * dimensions. Each step exchanges one ghost layer with up to four neighbours: rows directly,
 * columns through buffers. How (and when) is the variant: halo2d_blocking.c, halo2d_late_wait.c,
 * halo2d_overlapped.c, halo2d_boundary_first.c.
 *
 * The start is two eigenmodes of the discrete Laplacian, each of which a step multiplies by a
 * known factor: the exact discrete solution is known at every point and step. */
#include "../common/options.h"
#include "../common/work.h"
#include "halo2d.h"

static const double modes[2][3] = {{1, 1, 1.0}, {3, 2, 0.25}}; /* kx, ky, amplitude */

void sweep(const struct block *b, const double *u, double *unew, int i0, int i1, int j0, int j1)
{
    double d = b->diffusion;
    if (i1 >= i0 && j1 >= j0)
        WORK((double)(i1 - i0 + 1) * (j1 - j0 + 1));
    for (int i = i0; i <= i1; i++)
        for (int j = j0; j <= j1; j++)
            unew[at(b, i, j)] =
                u[at(b, i, j)] + d * (u[at(b, i - 1, j)] + u[at(b, i + 1, j)] + u[at(b, i, j - 1)] +
                                      u[at(b, i, j + 1)] - 4.0 * u[at(b, i, j)]);
}

/* The exact discrete solution after `steps` steps, at global point (gi, gj) of 1..n. */
static double exact(long n, long gi, long gj, double diffusion, long steps)
{
    double h = M_PI / (double)(n + 1), sum = 0.0;
    for (int m = 0; m < 2; m++) {
        double kx = modes[m][0], ky = modes[m][1];
        double sx = sin(0.5 * kx * h), sy = sin(0.5 * ky * h);
        double factor = 1.0 - 4.0 * diffusion * (sx * sx + sy * sy);
        sum += modes[m][2] * pow(factor, (double)steps) * sin(kx * h * (double)gi) *
               sin(ky * h * (double)gj);
    }
    return sum;
}

/* First global index (from 1) and number of points of part `part` of `parts`. */
static void split(long n, int parts, int part, long *first, int *count)
{
    *first = n * part / parts + 1;
    *count = (int)(n * (part + 1) / parts + 1 - *first);
}

int main(int argc, char **argv)
{
    long n = 1024, steps = 100, px = 0, py = 0;
    const char *variant = "blocking";
    struct app_option options[] = {
        {"n", OPTION_LONG, &n, "points of the plate in each dimension"},
        {"steps", OPTION_LONG, &steps, "time steps"},
        {"px", OPTION_LONG, &px, "ranks along the rows, 0: chosen by MPI_Dims_create"},
        {"py", OPTION_LONG, &py, "ranks along the columns, 0: chosen by MPI_Dims_create"},
        {"variant", OPTION_TEXT, &variant, "blocking, late-wait, overlapped or boundary-first"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "halo2d: heat conduction in a plate, five-point stencil", options, 5);

    int rank, size, dims[2] = {(int)px, (int)py}, periods[2] = {0, 0}, coords[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void (*step)(const struct block *, double *, double *) = NULL;
    if (strcmp(variant, "blocking") == 0)
        step = step_blocking;
    else if (strcmp(variant, "late-wait") == 0)
        step = step_late_wait;
    else if (strcmp(variant, "overlapped") == 0)
        step = step_overlapped;
    else if (strcmp(variant, "boundary-first") == 0)
        step = step_boundary_first;
    else
        options_refuse(rank, "unknown variant", variant);
    if (px < 0 || py < 0 || (px > 0 && py > 0 && px * py != size) || (px > 0 && size % px != 0) ||
        (py > 0 && size % py != 0))
        options_refuse(rank, "--px and --py do not fit the number of ranks of", argv[0]);
    MPI_Dims_create(size, 2, dims);
    if (n < 2 * dims[0] || n < 2 * dims[1] || n > 100000 || steps < 0)
        options_refuse(rank, "--n or --steps out of range for", argv[0]);

    struct block b = {.diffusion = 0.2};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &b.comm);
    MPI_Cart_coords(b.comm, rank, 2, coords);
    MPI_Cart_shift(b.comm, 0, 1, &b.north, &b.south);
    MPI_Cart_shift(b.comm, 1, 1, &b.west, &b.east);
    long first_i, first_j;
    split(n, dims[0], coords[0], &first_i, &b.nx);
    split(n, dims[1], coords[1], &first_j, &b.ny);

    size_t points = (size_t)(b.nx + 2) * (size_t)(b.ny + 2);
    double *u = calloc(points, sizeof *u), *unew = calloc(points, sizeof *unew);
    /* Not one allocation in four parts: so it can be seen that the buffers do not overlap. */
    b.send_west = calloc((size_t)b.nx, sizeof *b.send_west);
    b.send_east = calloc((size_t)b.nx, sizeof *b.send_east);
    b.recv_west = calloc((size_t)b.nx, sizeof *b.recv_west);
    b.recv_east = calloc((size_t)b.nx, sizeof *b.recv_east);
    if (!u || !unew || !b.send_west || !b.send_east || !b.recv_west || !b.recv_east)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 1; i <= b.nx; i++)
        for (int j = 1; j <= b.ny; j++)
            u[at(&b, i, j)] = exact(n, first_i + i - 1, first_j + j - 1, b.diffusion, 0);

    MPI_Barrier(b.comm);
    double start = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        step(&b, u, unew);
        double *swap = u;
        u = unew;
        unew = swap;
    }
    double seconds = MPI_Wtime() - start;

    double local[2] = {0.0, 0.0}, error, square;
    for (int i = 1; i <= b.nx; i++)
        for (int j = 1; j <= b.ny; j++) {
            double v = u[at(&b, i, j)];
            double e = exact(n, first_i + i - 1, first_j + j - 1, b.diffusion, steps);
            local[0] = fmax(local[0], fabs(v - e));
            local[1] += v * v;
        }
    MPI_Allreduce(&local[0], &error, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    MPI_Allreduce(&local[1], &square, 1, MPI_DOUBLE, MPI_SUM, b.comm);
    if (rank == 0)
        printf("halo2d: %ld x %ld points, %ld steps, %d x %d ranks, variant %s\n"
               "time: %.9f s, largest error %.3e\n",
               n, n, steps, dims[0], dims[1], variant, seconds, error);
    int status = verification(rank, error < 1e-12 * (double)(steps + 10), sqrt(square) / (double)n);
    free(u);
    free(unew);
    free(b.send_west);
    free(b.send_east);
    free(b.recv_west);
    free(b.recv_east);
    MPI_Comm_free(&b.comm);
    MPI_Finalize();
    return status;
}
