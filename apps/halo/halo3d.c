/* Heat conduction in a cube with cold faces: explicit seven-point stencil, bricks in three
 * dimensions, six faces exchanged through buffers in each step. How (and when) is the variant:
 * halo3d_blocking.c, halo3d_late_wait.c, halo3d_overlapped.c, halo3d_faces.c.
 *
 * As in halo2d, the start is two eigenmodes of the discrete Laplacian, so that the exact discrete
 * solution is known. */
#include "../common/options.h"
#include "../common/work.h"
#include "halo3d.h"

static const double modes[2][4] = {{1, 1, 1, 1.0}, {2, 3, 1, 0.25}}; /* kx, ky, kz, amplitude */

void sweep(const struct brick *b, const double *u, double *unew, const int lower[3],
           const int upper[3])
{
    double d = b->diffusion;
    if (upper[0] >= lower[0] && upper[1] >= lower[1] && upper[2] >= lower[2])
        WORK((double)(upper[0] - lower[0] + 1) * (upper[1] - lower[1] + 1) *
             (upper[2] - lower[2] + 1));
    for (int i = lower[0]; i <= upper[0]; i++)
        for (int j = lower[1]; j <= upper[1]; j++)
            for (int k = lower[2]; k <= upper[2]; k++)
                unew[at(b, i, j, k)] =
                    u[at(b, i, j, k)] +
                    d * (u[at(b, i - 1, j, k)] + u[at(b, i + 1, j, k)] + u[at(b, i, j - 1, k)] +
                         u[at(b, i, j + 1, k)] + u[at(b, i, j, k - 1)] + u[at(b, i, j, k + 1)] -
                         6.0 * u[at(b, i, j, k)]);
}

void sweep_all(const struct brick *b, const double *u, double *unew)
{
    sweep(b, u, unew, (int[]){1, 1, 1}, b->n);
}

void sweep_inside(const struct brick *b, const double *u, double *unew)
{
    sweep(b, u, unew, (int[]){2, 2, 2}, (int[]){b->n[0] - 1, b->n[1] - 1, b->n[2] - 1});
}

void sweep_rim(const struct brick *b, const double *u, double *unew)
{
    int lower[3] = {1, 1, 1}, upper[3] = {b->n[0], b->n[1], b->n[2]};
    for (int d = 0; d < 3; d++) {
        upper[d] = 1;
        sweep(b, u, unew, lower, upper);
        lower[d] = upper[d] = b->n[d];
        sweep(b, u, unew, lower, upper);
        lower[d] = 2; /* what the faces of this dimension have done, the others leave out */
        upper[d] = b->n[d] - 1;
    }
}

/* The range of one layer at a face: the outermost interior one, or the ghosts. */
static void layer(const struct brick *b, int face, int ghost, int lower[3], int upper[3])
{
    for (int d = 0; d < 3; d++) {
        lower[d] = 1;
        upper[d] = b->n[d];
    }
    int d = face / 2;
    lower[d] = upper[d] = face % 2 ? b->n[d] + ghost : 1 - ghost;
}

void pack(const struct brick *b, const double *u, int face, double *values)
{
    int lower[3], upper[3];
    if (b->peer[face] == MPI_PROC_NULL)
        return;
    layer(b, face, 0, lower, upper);
    for (int i = lower[0]; i <= upper[0]; i++)
        for (int j = lower[1]; j <= upper[1]; j++)
            for (int k = lower[2]; k <= upper[2]; k++)
                *values++ = u[at(b, i, j, k)];
}

void unpack(const struct brick *b, double *u, int face, const double *values)
{
    int lower[3], upper[3];
    if (b->peer[face] == MPI_PROC_NULL)
        return; /* the cold face: its ghosts stay zero */
    layer(b, face, 1, lower, upper);
    for (int i = lower[0]; i <= upper[0]; i++)
        for (int j = lower[1]; j <= upper[1]; j++)
            for (int k = lower[2]; k <= upper[2]; k++)
                u[at(b, i, j, k)] = *values++;
}

/* The exact discrete solution after `steps` steps, at global point g of 1..n. */
static double exact(long n, const long g[3], double diffusion, long steps)
{
    double h = M_PI / (double)(n + 1), sum = 0.0;
    for (int m = 0; m < 2; m++) {
        double shape = modes[m][3], decay = 0.0;
        for (int d = 0; d < 3; d++) {
            double s = sin(0.5 * modes[m][d] * h);
            decay += 4.0 * diffusion * s * s;
            shape *= sin(modes[m][d] * h * (double)g[d]);
        }
        sum += pow(1.0 - decay, (double)steps) * shape;
    }
    return sum;
}

int main(int argc, char **argv)
{
    long n = 128, steps = 50, p[3] = {0, 0, 0};
    const char *variant = "blocking";
    struct app_option options[] = {
        {"n", OPTION_LONG, &n, "points of the cube in each dimension"},
        {"steps", OPTION_LONG, &steps, "time steps"},
        {"px", OPTION_LONG, &p[0], "ranks along x, 0: chosen by MPI_Dims_create"},
        {"py", OPTION_LONG, &p[1], "ranks along y"},
        {"pz", OPTION_LONG, &p[2], "ranks along z"},
        {"variant", OPTION_TEXT, &variant, "blocking, late-wait, overlapped or faces"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "halo3d: heat conduction in a cube, seven-point stencil", options, 6);

    int rank, size, dims[3], periods[3] = {0, 0, 0}, coords[3];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void (*step)(const struct brick *, double *, double *) = NULL;
    if (strcmp(variant, "blocking") == 0)
        step = step_blocking;
    else if (strcmp(variant, "late-wait") == 0)
        step = step_late_wait;
    else if (strcmp(variant, "overlapped") == 0)
        step = step_overlapped;
    else if (strcmp(variant, "faces") == 0)
        step = step_faces;
    else
        options_refuse(rank, "unknown variant", variant);
    int product = 1, free_dims = 0;
    for (int d = 0; d < 3; d++) {
        dims[d] = p[d] > 0 ? (int)p[d] : 0;
        product *= dims[d] ? dims[d] : 1;
        free_dims += dims[d] == 0;
    }
    if (size % product != 0 || (free_dims == 0 && product != size))
        options_refuse(rank, "--px, --py, --pz do not fit the number of ranks of", argv[0]);
    MPI_Dims_create(size, 3, dims);

    struct brick b = {.diffusion = 0.15};
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &b.comm);
    MPI_Cart_coords(b.comm, rank, 3, coords);
    long first[3];
    for (int d = 0; d < 3; d++) {
        if (n < 2 * dims[d] || n > 4000 || steps < 0)
            options_refuse(rank, "--n or --steps out of range for", argv[0]);
        MPI_Cart_shift(b.comm, d, 1, &b.peer[2 * d], &b.peer[2 * d + 1]);
        first[d] = n * coords[d] / dims[d] + 1;
        b.n[d] = (int)(n * (coords[d] + 1) / dims[d] + 1 - first[d]);
    }
    for (int d = 0; d < 3; d++) {
        b.face_size[d] = b.n[(d + 1) % 3] * b.n[(d + 2) % 3];
        for (int face = 2 * d; face <= 2 * d + 1; face++) {
            b.send[face] = malloc((size_t)b.face_size[d] * sizeof(double));
            b.recv[face] = malloc((size_t)b.face_size[d] * sizeof(double));
            if (!b.send[face] || !b.recv[face])
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    size_t yz = (size_t)b.face_size[0], xz = (size_t)b.face_size[1], xy = (size_t)b.face_size[2];
    b.to_west = calloc(yz, sizeof(double));
    b.to_east = calloc(yz, sizeof(double));
    b.to_south = calloc(xz, sizeof(double));
    b.to_north = calloc(xz, sizeof(double));
    b.to_down = calloc(xy, sizeof(double));
    b.to_up = calloc(xy, sizeof(double));
    b.from_west = calloc(yz, sizeof(double));
    b.from_east = calloc(yz, sizeof(double));
    b.from_south = calloc(xz, sizeof(double));
    b.from_north = calloc(xz, sizeof(double));
    b.from_down = calloc(xy, sizeof(double));
    b.from_up = calloc(xy, sizeof(double));
    if (!b.to_west || !b.to_east || !b.to_south || !b.to_north || !b.to_down || !b.to_up ||
        !b.from_west || !b.from_east || !b.from_south || !b.from_north || !b.from_down ||
        !b.from_up)
        MPI_Abort(MPI_COMM_WORLD, 3);
    size_t points = (size_t)(b.n[0] + 2) * (size_t)(b.n[1] + 2) * (size_t)(b.n[2] + 2);
    double *u = calloc(points, sizeof *u), *unew = calloc(points, sizeof *unew);
    if (!u || !unew)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 1; i <= b.n[0]; i++)
        for (int j = 1; j <= b.n[1]; j++)
            for (int k = 1; k <= b.n[2]; k++)
                u[at(&b, i, j, k)] =
                    exact(n, (long[]){first[0] + i - 1, first[1] + j - 1, first[2] + k - 1},
                          b.diffusion, 0);

    MPI_Barrier(b.comm);
    double start = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        step(&b, u, unew);
        double *swap = u;
        u = unew;
        unew = swap;
    }
    double seconds = MPI_Wtime() - start;

    double local_error = 0.0, local_square = 0.0, error, square;
    for (int i = 1; i <= b.n[0]; i++)
        for (int j = 1; j <= b.n[1]; j++)
            for (int k = 1; k <= b.n[2]; k++) {
                double v = u[at(&b, i, j, k)];
                double e = exact(n, (long[]){first[0] + i - 1, first[1] + j - 1, first[2] + k - 1},
                                 b.diffusion, steps);
                local_error = fmax(local_error, fabs(v - e));
                local_square += v * v;
            }
    MPI_Allreduce(&local_error, &error, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    MPI_Allreduce(&local_square, &square, 1, MPI_DOUBLE, MPI_SUM, b.comm);
    if (rank == 0)
        printf("halo3d: %ld^3 points, %ld steps, %d x %d x %d ranks, variant %s\n"
               "time: %.6f s, largest error %.3e\n",
               n, steps, dims[0], dims[1], dims[2], variant, seconds, error);
    int status = verification(rank, error < 1e-12 * (double)(steps + 10),
                              sqrt(square / (double)n) / (double)n);
    for (int face = 0; face < 6; face++) {
        free(b.send[face]);
        free(b.recv[face]);
    }
    free(b.to_west);
    free(b.to_east);
    free(b.to_south);
    free(b.to_north);
    free(b.to_down);
    free(b.to_up);
    free(b.from_west);
    free(b.from_east);
    free(b.from_south);
    free(b.from_north);
    free(b.from_down);
    free(b.from_up);
    free(u);
    free(unew);
    MPI_Comm_free(&b.comm);
    MPI_Finalize();
    return status;
}
