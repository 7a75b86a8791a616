/* Boss and workers: adaptive quadrature of a function with a sharp peak over a grid of cells, so
 * that cells differ in cost by orders of magnitude and are given out as workers become free.
 *
 * A worker has its next cell on order while it computes (a receive is posted beforehand), and
 * returns results of a length that only it knows. The boss looks for results from anyone (probe and
 * receive with wildcards) and computes cells itself while there are none. Results are added in the
 * order of the cells, whoever computed them: the sum does not depend on timing.
 *
 * bossworker is the SPMD program (rank 0 is the boss); built with -DROLE=1 it is only the boss,
 * with -DROLE=2 only a worker:  mpirun -n 1 boss : -n 3 worker  */
#include "../common/options.h"
#include "../common/work.h"

#ifndef ROLE
#define ROLE 0 /* 0: by rank, 1: boss, 2: worker */
#endif

enum { TAG_READY = 1, TAG_RESULT, TAG_CELL, TAG_STOP };
enum { MAX_DEPTH = 24, HISTORY = 64, MAX_RESULT = 3 + HISTORY };

struct problem {
    double width;     /* of the peak */
    double tolerance; /* of each cell */
    long cells;       /* in each dimension */
};

static double peak(const struct problem *p, double x)
{
    double d = x - 0.3;
    return p->width / (p->width * p->width + d * d);
}

/* A count of evaluations for each depth of the outer recursion: what a result carries. */
struct effort {
    long evaluations;
    int depth; /* deepest so far */
    double at_depth[HISTORY];
};

static double simpson(double a, double b, double fa, double fm, double fb)
{
    return (b - a) / 6.0 * (fa + 4.0 * fm + fb);
}

/* Adaptive Simpson of peak(y) over [a, b]. */
static double inner(const struct problem *p, double a, double b, double fa, double fm, double fb,
                    double tolerance, int depth, struct effort *effort)
{
    double m = 0.5 * (a + b), fl = peak(p, 0.5 * (a + m)), fr = peak(p, 0.5 * (m + b));
    double whole = simpson(a, b, fa, fm, fb);
    double left = simpson(a, m, fa, fl, fm), right = simpson(m, b, fm, fr, fb);
    effort->evaluations += 2;
    if (depth == MAX_DEPTH || fabs(left + right - whole) < 15.0 * tolerance)
        return left + right + (left + right - whole) / 15.0;
    return inner(p, a, m, fa, fl, fm, 0.5 * tolerance, depth + 1, effort) +
           inner(p, m, b, fm, fr, fb, 0.5 * tolerance, depth + 1, effort);
}

/* The integral over y of peak(x) peak(y). */
static double slice(const struct problem *p, double x, double y0, double y1, struct effort *effort)
{
    double integral = inner(p, y0, y1, peak(p, y0), peak(p, 0.5 * (y0 + y1)), peak(p, y1),
                            0.01 * p->tolerance, 0, effort);
    return peak(p, x) * integral;
}

static double outer(const struct problem *p, const double y[2], double a, double b, double fa,
                    double fm, double fb, double tolerance, int depth, struct effort *effort)
{
    double m = 0.5 * (a + b);
    double fl = slice(p, 0.5 * (a + m), y[0], y[1], effort);
    double fr = slice(p, 0.5 * (m + b), y[0], y[1], effort);
    double whole = simpson(a, b, fa, fm, fb);
    double left = simpson(a, m, fa, fl, fm), right = simpson(m, b, fm, fr, fb);
    effort->at_depth[depth]++;
    effort->depth = depth > effort->depth ? depth : effort->depth;
    if (depth == MAX_DEPTH || fabs(left + right - whole) < 15.0 * tolerance)
        return left + right + (left + right - whole) / 15.0;
    return outer(p, y, a, m, fa, fl, fm, 0.5 * tolerance, depth + 1, effort) +
           outer(p, y, m, b, fm, fr, fb, 0.5 * tolerance, depth + 1, effort);
}

/* Fills `result` with the cell, its integral, the evaluations, and the visits of each depth;
 * returns how many numbers that is. */
static int compute(const struct problem *p, long cell, double *result)
{
    double h = 1.0 / (double)p->cells;
    double x0 = (double)(cell / p->cells) * h, y0 = (double)(cell % p->cells) * h;
    double x1 = x0 + h, y[2] = {y0, y0 + h};
    struct effort effort = {0};
    double fa = slice(p, x0, y[0], y[1], &effort), fb = slice(p, x1, y[0], y[1], &effort);
    double fm = slice(p, 0.5 * (x0 + x1), y[0], y[1], &effort);
    result[0] = (double)cell;
    result[1] = outer(p, y, x0, x1, fa, fm, fb, p->tolerance, 0, &effort);
    WORK(effort.evaluations);
    result[2] = (double)effort.evaluations;
    memcpy(result + 3, effort.at_depth, (size_t)(effort.depth + 1) * sizeof(double));
    return 3 + effort.depth + 1;
}

static void work(const struct problem *p, int boss)
{
    double result[2][MAX_RESULT];
    MPI_Request ready, sending = MPI_REQUEST_NULL, receiving;
    MPI_Status status;
    long cell, next;
    int turn = 0;

    MPI_Isend(NULL, 0, MPI_LONG, boss, TAG_READY, MPI_COMM_WORLD, &ready);
    MPI_Recv(&cell, 1, MPI_LONG, boss, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
    while (status.MPI_TAG != TAG_STOP) {
        /* order the next cell before this one is computed */
        MPI_Irecv(&next, 1, MPI_LONG, boss, MPI_ANY_TAG, MPI_COMM_WORLD, &receiving);
        MPI_Isend(NULL, 0, MPI_LONG, boss, TAG_READY, MPI_COMM_WORLD, &ready);
        int length = compute(p, cell, result[turn]);
        MPI_Wait(&ready, MPI_STATUS_IGNORE);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
        MPI_Isend(result[turn], length, MPI_DOUBLE, boss, TAG_RESULT, MPI_COMM_WORLD, &sending);
        turn = 1 - turn;
        MPI_Wait(&receiving, &status);
        cell = next;
    }
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

/* Takes one message that has been probed. Returns 1 if it was a result. */
static int take(const MPI_Status *probed, long *next_cell, long cells, int *stopped, double *values,
                double *evaluations)
{
    int from = probed->MPI_SOURCE;
    if (probed->MPI_TAG == TAG_READY) {
        MPI_Recv(NULL, 0, MPI_LONG, from, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        long cell = *next_cell;
        int tag = cell < cells ? TAG_CELL : TAG_STOP;
        *next_cell += tag == TAG_CELL;
        *stopped += tag == TAG_STOP;
        MPI_Send(&cell, 1, MPI_LONG, from, tag, MPI_COMM_WORLD);
        return 0;
    }
    double result[MAX_RESULT];
    int length;
    MPI_Get_count(probed, MPI_DOUBLE, &length);
    MPI_Recv(result, length, MPI_DOUBLE, from, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    values[(long)result[0]] = result[1];
    evaluations[(long)result[0]] = result[2];
    return 1;
}

static void lead(const struct problem *p, int workers, double *values, double *evaluations)
{
    long cells = p->cells * p->cells, next_cell = 0, returned = 0, mine = 0;
    int stopped = 0;
    while (returned + mine < cells || stopped < workers) {
        int arrived = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
        if (!arrived && next_cell < cells) {
            double result[MAX_RESULT];
            long cell = next_cell++;
            compute(p, cell, result);
            values[cell] = result[1];
            evaluations[cell] = result[2];
            mine++;
            continue;
        }
        if (!arrived)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        returned += take(&status, &next_cell, cells, &stopped, values, evaluations);
    }
    printf("boss computed %ld cells, %d workers %ld\n", mine, workers, returned);
}

int main(int argc, char **argv)
{
    struct problem p = {.width = 1e-3, .tolerance = 1e-9, .cells = 16};
    struct app_option options[] = {
        {"cells", OPTION_LONG, &p.cells, "cells in each dimension (the boss's option)"},
        {"width", OPTION_DOUBLE, &p.width, "width of the peak (the boss's option)"},
        {"tolerance", OPTION_DOUBLE, &p.tolerance, "error allowed in a cell (the boss's option)"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "bossworker: adaptive quadrature by a boss and workers", options, 3);

    int rank, size, boss, bosses;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int leads = ROLE == 1 || (ROLE == 0 && rank == 0), candidate = leads ? rank : size;
    MPI_Allreduce(&candidate, &boss, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&leads, &bosses, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (bosses != 1)
        options_refuse(rank, "one boss is needed, as in", "mpirun -n 1 boss : -n 1 worker");
    MPI_Bcast(&p.width, 1, MPI_DOUBLE, boss, MPI_COMM_WORLD);
    MPI_Bcast(&p.tolerance, 1, MPI_DOUBLE, boss, MPI_COMM_WORLD);
    MPI_Bcast(&p.cells, 1, MPI_LONG, boss, MPI_COMM_WORLD);
    if (p.cells < 1 || p.cells > 4096 || !(p.width > 0.0) || !(p.tolerance > 0.0))
        options_refuse(rank == boss ? 0 : 1, "--cells, --width or --tolerance out of range for",
                       argv[0]);

    int passed = 1;
    double start = MPI_Wtime();
    if (rank == boss) {
        long cells = p.cells * p.cells;
        double *values = calloc((size_t)cells, sizeof *values), sum = 0.0;
        double *evaluations = calloc((size_t)cells, sizeof *evaluations), total = 0.0;
        if (!values || !evaluations)
            MPI_Abort(MPI_COMM_WORLD, 3);
        lead(&p, size - 1, values, evaluations);
        for (long cell = 0; cell < cells; cell++) {
            sum += values[cell];
            total += evaluations[cell];
        }
        double side = atan(0.7 / p.width) + atan(0.3 / p.width), exact = side * side;
        passed = fabs(sum - exact) < 10.0 * p.tolerance * (double)cells;
        printf("bossworker: %ld cells, %.0f evaluations, %d ranks\n"
               "time: %.6f s, error %.3e\n",
               cells, total, size, MPI_Wtime() - start, fabs(sum - exact));
        verification(0, passed, sum);
        free(values);
        free(evaluations);
    } else {
        work(&p, boss);
    }
    MPI_Bcast(&passed, 1, MPI_INT, boss, MPI_COMM_WORLD);
    MPI_Finalize();
    return passed ? 0 : 1;
}
