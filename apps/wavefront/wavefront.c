/* Triangular solves in the order of a wavefront: every point of a box needs its neighbours to the
 * west, north and below. x and y are divided among the ranks; blocks of planes go through the grid
 * of ranks as a pipeline, from the north-west corner on. An MPI_Allreduce ends each sweep.
 * Variants: blocking    receive from west and north, compute a block, send to east and south
 *   overlapped  the receives of the next block are posted before this one is computed, sends are
 *               awaited when their buffer is needed again
 *
 * The right side of each sweep belongs to a known solution, which the sweep must find. */
#include "../common/options.h"
#include "../common/work.h"

static const double west_weight = 0.3, north_weight = 0.25, below_weight = 0.2;

struct box {
    MPI_Comm comm;
    int west, east, north, south;
    int nx, ny, nz, planes; /* points of this rank; planes of a block */
    long first_x, first_y;
    double *v;          /* nx+1, ny+1, nz+1: index 0 holds what comes from the neighbours */
    double *in_west[2]; /* ny * planes, the later ones nx * planes values */
    double *in_north[2], *out_east[2], *out_south[2];
};

static size_t at(const struct box *b, int i, int j, int k)
{
    return ((size_t)k * (size_t)(b->ny + 1) + (size_t)j) * (size_t)(b->nx + 1) + (size_t)i;
}

static double known(const struct box *b, long sweep, int i, int j, int k)
{
    double x = (double)(b->first_x + i), y = (double)(b->first_y + j), z = (double)k;
    if (b->first_x + i == 0 || b->first_y + j == 0 || k == 0)
        return 0.0;
    return (double)(sweep + 1) * (1.0 + 0.01 * sin(0.1 * x) * cos(0.07 * y) + 0.001 * z);
}

/* What comes from the neighbours becomes the layers i = 0 and j = 0 of a block. */
static void unpack(struct box *b, int k1, const double *west, const double *north)
{
    for (int k = k1; k < k1 + b->planes; k++) {
        for (int j = 1; b->west != MPI_PROC_NULL && j <= b->ny; j++)
            b->v[at(b, 0, j, k)] = *west++;
        for (int i = 1; b->north != MPI_PROC_NULL && i <= b->nx; i++)
            b->v[at(b, i, 0, k)] = *north++;
    }
}

static void pack(const struct box *b, int k1, double *east, double *south)
{
    for (int k = k1; k < k1 + b->planes; k++) {
        for (int j = 1; j <= b->ny; j++)
            *east++ = b->v[at(b, b->nx, j, k)];
        for (int i = 1; i <= b->nx; i++)
            *south++ = b->v[at(b, i, b->ny, k)];
    }
}

static void compute(struct box *b, long sweep, int k1)
{
    WORK((double)b->nx * b->ny * b->planes);
    for (int k = k1; k < k1 + b->planes; k++)
        for (int j = 1; j <= b->ny; j++)
            for (int i = 1; i <= b->nx; i++) {
                double right = known(b, sweep, i, j, k) -
                               west_weight * known(b, sweep, i - 1, j, k) -
                               north_weight * known(b, sweep, i, j - 1, k) -
                               below_weight * known(b, sweep, i, j, k - 1);
                b->v[at(b, i, j, k)] = right + west_weight * b->v[at(b, i - 1, j, k)] +
                                       north_weight * b->v[at(b, i, j - 1, k)] +
                                       below_weight * b->v[at(b, i, j, k - 1)];
            }
}

static void sweep_blocking(struct box *b, long sweep)
{
    int across = b->ny * b->planes, along = b->nx * b->planes;
    for (int k1 = 1; k1 <= b->nz; k1 += b->planes) {
        MPI_Recv(b->in_west[0], across, MPI_DOUBLE, b->west, 1, b->comm, MPI_STATUS_IGNORE);
        MPI_Recv(b->in_north[0], along, MPI_DOUBLE, b->north, 2, b->comm, MPI_STATUS_IGNORE);
        unpack(b, k1, b->in_west[0], b->in_north[0]);
        compute(b, sweep, k1);
        pack(b, k1, b->out_east[0], b->out_south[0]);
        MPI_Send(b->out_east[0], across, MPI_DOUBLE, b->east, 1, b->comm);
        MPI_Send(b->out_south[0], along, MPI_DOUBLE, b->south, 2, b->comm);
    }
}

static void post(struct box *b, int which, MPI_Request *requests)
{
    MPI_Irecv(b->in_west[which], b->ny * b->planes, MPI_DOUBLE, b->west, 1, b->comm, &requests[0]);
    MPI_Irecv(b->in_north[which], b->nx * b->planes, MPI_DOUBLE, b->north, 2, b->comm,
              &requests[1]);
}

static void sweep_overlapped(struct box *b, long sweep)
{
    MPI_Request in[2][2],
        out[2][2] = {{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    int which = 0;
    post(b, 0, in[0]);
    for (int k1 = 1; k1 <= b->nz; k1 += b->planes, which = !which) {
        if (k1 + b->planes <= b->nz)
            post(b, !which, in[!which]);
        MPI_Waitall(2, in[which], MPI_STATUSES_IGNORE);
        unpack(b, k1, b->in_west[which], b->in_north[which]);
        compute(b, sweep, k1);
        MPI_Waitall(2, out[which], MPI_STATUSES_IGNORE);
        pack(b, k1, b->out_east[which], b->out_south[which]);
        MPI_Isend(b->out_east[which], b->ny * b->planes, MPI_DOUBLE, b->east, 1, b->comm,
                  &out[which][0]);
        MPI_Isend(b->out_south[which], b->nx * b->planes, MPI_DOUBLE, b->south, 2, b->comm,
                  &out[which][1]);
    }
    MPI_Waitall(2, out[0], MPI_STATUSES_IGNORE);
    MPI_Waitall(2, out[1], MPI_STATUSES_IGNORE);
}

static double *array(size_t count)
{
    double *values = calloc(count ? count : 1, sizeof *values);
    if (!values)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return values;
}

int main(int argc, char **argv)
{
    long n = 96, nz = 64, planes = 8, sweeps = 20;
    const char *variant = "blocking";
    struct app_option options[] = {
        {"n", OPTION_LONG, &n, "points in x and y"},
        {"nz", OPTION_LONG, &nz, "points in z"},
        {"planes", OPTION_LONG, &planes, "planes in a block of the pipeline; divides nz"},
        {"sweeps", OPTION_LONG, &sweeps, "sweeps through the box"},
        {"variant", OPTION_TEXT, &variant, "blocking or overlapped"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "wavefront: triangular solves, pipelined", options, 5);

    int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int overlapped = strcmp(variant, "overlapped") == 0;
    if (!overlapped && strcmp(variant, "blocking") != 0)
        options_refuse(rank, "unknown variant", variant);
    MPI_Dims_create(size, 2, dims);
    if (n < dims[0] || n > 10000 || nz < 1 || planes < 1 || nz % planes != 0 || sweeps < 1)
        options_refuse(rank, "--n, --nz, --planes or --sweeps out of range for", argv[0]);

    struct box b = {.nz = (int)nz, .planes = (int)planes};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &b.comm);
    MPI_Cart_coords(b.comm, rank, 2, coords);
    MPI_Cart_shift(b.comm, 0, 1, &b.west, &b.east);
    MPI_Cart_shift(b.comm, 1, 1, &b.north, &b.south);
    b.first_x = n * coords[0] / dims[0];
    b.first_y = n * coords[1] / dims[1];
    b.nx = (int)(n * (coords[0] + 1) / dims[0] - b.first_x);
    b.ny = (int)(n * (coords[1] + 1) / dims[1] - b.first_y);
    b.v = array((size_t)(b.nx + 1) * (size_t)(b.ny + 1) * (size_t)(b.nz + 1));
    for (int i = 0; i < 2; i++) {
        b.in_west[i] = array((size_t)b.ny * (size_t)planes);
        b.in_north[i] = array((size_t)b.nx * (size_t)planes);
        b.out_east[i] = array((size_t)b.ny * (size_t)planes);
        b.out_south[i] = array((size_t)b.nx * (size_t)planes);
    }

    MPI_Barrier(b.comm);
    double start = MPI_Wtime(), local = 0.0, sum = 0.0;
    for (long s = 0; s < sweeps; s++) {
        if (overlapped)
            sweep_overlapped(&b, s);
        else
            sweep_blocking(&b, s);
        local = b.v[at(&b, b.nx, b.ny, b.nz)];
        MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, b.comm);
    }
    double seconds = MPI_Wtime() - start;

    double worst = 0.0, error, squares = 0.0;
    for (int k = 1; k <= b.nz; k++)
        for (int j = 1; j <= b.ny; j++)
            for (int i = 1; i <= b.nx; i++) {
                double v = b.v[at(&b, i, j, k)];
                worst = fmax(worst, fabs(v - known(&b, sweeps - 1, i, j, k)));
                squares += v * v;
            }
    MPI_Allreduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    MPI_Allreduce(&squares, &sum, 1, MPI_DOUBLE, MPI_SUM, b.comm);
    if (rank == 0)
        printf("wavefront: %ld x %ld x %ld points, %ld sweeps, %d x %d ranks, variant %s\n"
               "time: %.9f s, largest error %.3e\n",
               n, n, nz, sweeps, dims[0], dims[1], variant, seconds, error);
    int status =
        verification(rank, error < 1e-12 * (double)(sweeps + 1), sqrt(sum / (double)(n * n * nz)));
    for (int i = 0; i < 2; i++) {
        free(b.in_west[i]);
        free(b.in_north[i]);
        free(b.out_east[i]);
        free(b.out_south[i]);
    }
    free(b.v);
    MPI_Comm_free(&b.comm);
    MPI_Finalize();
    return status;
}
