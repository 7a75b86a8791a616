/* A reaction front that swings to and fro in a tube: diffusion along the tube, and chemistry that
 * needs many small steps where the front is. Ranks are slices of the tube, in a ring; the front is
 * in every second slice, and one further with each time step. So every rank has more to compute
 * than its neighbours in every second step: their work is equal, but never at the same time.
 *
 * Each step starts the exchange of both end planes, does the chemistry of all own cells, waits, and
 * diffuses. Nobody has to wait for a neighbour's chemistry, whose planes left before it, if the
 * library moves them meanwhile.
 *
 * The start is a cosine along the tube, which diffusion and chemistry multiply by known factors. */
#include "../common/options.h"
#include "../common/work.h"

static const double DIFFUSION = 1e-3, DECAY = 1e-3; /* both for one time step */

struct slice {
    long cells;         /* of a plane */
    int planes;         /* of this rank, between two ghost planes */
    int lower, upper;   /* ranks */
    double *now, *next; /* planes + 2 */
};

static double *plane(double *field, const struct slice *s, int index)
{
    return field + (size_t)index * (size_t)s->cells;
}

/* The decay of one time step, in `substeps` equal parts. */
static void react(const double *from, double *to, long cells, long substeps)
{
    double factor = exp(-DECAY / (double)substeps);
    WORK((double)cells * (double)substeps);
    for (long c = 0; c < cells; c++) {
        double x = from[c];
        for (long k = 0; k < substeps; k++)
            x *= factor;
        to[c] = x;
    }
}

static void diffuse(const struct slice *s, double *from, double *to)
{
    WORK((double)s->cells * s->planes);
    for (int p = 1; p <= s->planes; p++) {
        const double *below = plane(from, s, p - 1), *here = plane(from, s, p);
        const double *above = plane(from, s, p + 1);
        double *out = plane(to, s, p);
        for (long c = 0; c < s->cells; c++)
            out[c] = here[c] + DIFFUSION * (below[c] - 2.0 * here[c] + above[c]);
    }
}

static void step(struct slice *s, long substeps)
{
    int count = (int)s->cells, last = s->planes;
    MPI_Request requests[4];
    MPI_Irecv(plane(s->now, s, 0), count, MPI_DOUBLE, s->lower, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(plane(s->now, s, last + 1), count, MPI_DOUBLE, s->upper, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(plane(s->now, s, last), count, MPI_DOUBLE, s->upper, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(plane(s->now, s, 1), count, MPI_DOUBLE, s->lower, 2, MPI_COMM_WORLD, &requests[3]);

    react(plane(s->now, s, 1), plane(s->next, s, 1), s->cells * s->planes, substeps);

    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    react(plane(s->now, s, 0), plane(s->next, s, 0), s->cells, 1);
    react(plane(s->now, s, last + 1), plane(s->next, s, last + 1), s->cells, 1);
    diffuse(s, s->next, s->now);
}

int main(int argc, char **argv)
{
    long cells = 65536, planes = 4, steps = 40, substeps = 120, calm = 6;
    struct app_option options[] = {
        {"cells", OPTION_LONG, &cells, "cells of a plane, each a message of 8 bytes"},
        {"planes", OPTION_LONG, &planes, "planes of the tube, at least one for each rank"},
        {"steps", OPTION_LONG, &steps, "time steps"},
        {"substeps", OPTION_LONG, &substeps, "steps of the chemistry where the front is"},
        {"calm", OPTION_LONG, &calm, "steps of the chemistry elsewhere"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "front: a reaction front that swings in a tube", options, 5);

    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (cells < 1 || cells > 1 << 24 || planes < size || planes > 100000 || steps < 0 ||
        substeps < 1 || calm < 1)
        options_refuse(rank, "an option is out of range for", argv[0]);
    long first = planes * rank / size;
    struct slice s = {.cells = cells,
                      .planes = (int)(planes * (rank + 1) / size - first),
                      .lower = (rank + size - 1) % size,
                      .upper = (rank + 1) % size};
    size_t values = (size_t)(s.planes + 2) * (size_t)cells;
    s.now = calloc(values, sizeof *s.now);
    s.next = calloc(values, sizeof *s.next);
    if (!s.now || !s.next)
        MPI_Abort(MPI_COMM_WORLD, 3);
    double wave = 2.0 * M_PI / (double)planes;
    for (int p = 1; p <= s.planes; p++)
        for (long c = 0; c < cells; c++)
            plane(s.now, &s, p)[c] = cos(wave * (double)(first + p - 1));

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long t = 0; t < steps; t++)
        step(&s, (rank + t) % 2 ? calm : substeps);
    double seconds = MPI_Wtime() - start;

    double half = sin(0.5 * wave), local[2] = {0.0, 0.0}, error, square;
    double left = pow((1.0 - 4.0 * DIFFUSION * half * half) * exp(-DECAY), (double)steps);
    for (int p = 1; p <= s.planes; p++)
        for (long c = 0; c < cells; c++) {
            double v = plane(s.now, &s, p)[c];
            double e = left * cos(wave * (double)(first + p - 1));
            local[0] = fmax(local[0], fabs(v - e));
            local[1] += v * v;
        }
    MPI_Allreduce(&local[0], &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&local[1], &square, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("front: %ld planes of %ld cells, %ld steps, %d ranks\n"
               "time: %.9f s, largest error %.3e\n",
               planes, cells, steps, size, seconds, error);
    int status = verification(rank, error < 1e-12 * (double)(steps + 10),
                              sqrt(square / (double)(planes * cells)));
    free(s.now);
    free(s.next);
    MPI_Finalize();
    return status;
}
