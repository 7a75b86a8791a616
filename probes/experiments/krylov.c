/* The sparse matrix-vector product of a Krylov solver (White and Bova, section III): conjugate
 * gradients on an unstructured mesh, with separate phases of communication and computation, and
 * with the rows that need no ghost between start and wait. In pairs, so that what else the machine
 * does meets both. */
#include "engine/pace.h"

#include "mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { vertices_per_side = 100, most_iterations = 2000 };
static const double tolerance = 1e-8, jitter = 0.2;

typedef struct solver {
    engine *e;
    struct matrix m;
    MPI_Request *requests;
    MPI_Status *statuses;
    double *x, *b, *r, *p, *q;
} solver;

typedef struct solution {
    double time_ns, residual;
    int iterations;
} solution;

static void multiply_rows(const struct matrix *m, const double *p, double *q, int first, int last)
{
    for (int row = first; row < last; row++) {
        double sum = 0.0;
        for (int k = m->row_start[row]; k < m->row_start[row + 1]; k++)
            sum += m->value[k] * p[m->column[k]];
        q[row] = sum;
    }
}

/* q = A p; p has room for the ghosts behind its owned values. */
static void multiply(solver *s, double *p, double *q, int overlapped)
{
    const int tag = 110;
    const struct matrix *m = &s->m;
    for (int k = 0; k < m->neighbours; k++)
        MPI_Irecv(&p[m->owned + m->ghost_start[k]], m->ghost_start[k + 1] - m->ghost_start[k],
                  MPI_DOUBLE, m->neighbour[k], tag, s->e->data, &s->requests[k]);
    for (int k = 0; k < m->neighbours; k++) {
        for (int i = m->send_start[k]; i < m->send_start[k + 1]; i++)
            m->buffer[i] = p[m->send_list[i]];
        MPI_Isend(&m->buffer[m->send_start[k]], m->send_start[k + 1] - m->send_start[k], MPI_DOUBLE,
                  m->neighbour[k], tag, s->e->data, &s->requests[m->neighbours + k]);
    }
    if (overlapped)
        multiply_rows(m, p, q, 0, m->inside);
    MPI_Waitall(2 * m->neighbours, s->requests, s->statuses);
    multiply_rows(m, p, q, overlapped ? m->inside : 0, m->owned);
}

static double dot(const solver *s, const double *a, const double *b)
{
    double local = 0.0, sum;
    for (int i = 0; i < s->m.owned; i++)
        local += a[i] * b[i];
    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, s->e->data);
    return sum;
}

static solution solve(solver *s, int overlapped)
{
    const int n = s->m.owned;
    solution found = {0};
    memset(s->x, 0, (size_t)n * sizeof *s->x);
    memcpy(s->r, s->b, (size_t)n * sizeof *s->r);
    memcpy(s->p, s->b, (size_t)n * sizeof *s->p);
    MPI_Barrier(s->e->data);
    const int64_t begin = now_ns();
    double rho = dot(s, s->r, s->r);
    const double limit = tolerance * tolerance * rho;
    while (found.iterations < most_iterations && rho > limit) {
        multiply(s, s->p, s->q, overlapped);
        const double alpha = rho / dot(s, s->p, s->q);
        for (int i = 0; i < n; i++) {
            s->x[i] += alpha * s->p[i];
            s->r[i] -= alpha * s->q[i];
        }
        const double after = dot(s, s->r, s->r), beta = after / rho;
        rho = after;
        for (int i = 0; i < n; i++)
            s->p[i] = s->r[i] + beta * s->p[i];
        found.iterations++;
    }
    const double mine_ns = (double)(now_ns() - begin);
    MPI_Allreduce(&mine_ns, &found.time_ns, 1, MPI_DOUBLE, MPI_MAX, s->e->data);
    /* The true residual, not the one that the iteration carries along. */
    memcpy(s->p, s->x, (size_t)n * sizeof *s->p);
    multiply(s, s->p, s->q, overlapped);
    for (int i = 0; i < n; i++)
        s->r[i] = s->b[i] - s->q[i];
    found.residual = sqrt(dot(s, s->r, s->r) / dot(s, s->b, s->b));
    return found;
}

static double *vector(const solver *s)
{
    return (double *)touched((size_t)(s->m.owned + s->m.ghosts + 1) * sizeof(double));
}

void run_krylov(engine *e)
{
    const int intended = e->quick ? 12 : 40, least = e->quick ? 5 : 15;
    solver s = {.e = e};
    int inter = 0, stop = 0;
    if (e->ranks < 2 || vertices_per_side * vertices_per_side < 4 * e->ranks)
        return;
    for (int r = 0; r < e->ranks; r++)
        inter |= e->node_of[r] != e->node_of[0];
    matrix_make(&s.m, e->data, vertices_per_side, jitter);
    s.requests = (MPI_Request *)touched((size_t)(2 * s.m.neighbours + 1) * sizeof *s.requests);
    s.statuses = (MPI_Status *)touched((size_t)(2 * s.m.neighbours + 1) * sizeof *s.statuses);
    s.x = vector(&s), s.b = vector(&s), s.r = vector(&s), s.p = vector(&s), s.q = vector(&s);
    /* The right side of a known, smooth solution. */
    for (int i = 0; i < s.m.owned; i++)
        s.p[i] = sin(3.0 * s.m.x[i]) * sin(6.0 * s.m.y[i]) + s.m.x[i] * (1.0 - s.m.x[i]);
    multiply(&s, s.p, s.b, 0);
    /* The first pair warms caches and connections; which version goes first alternates. */
    int pairs = intended;
    for (int i = -1; i < pairs && !stop; i++) {
        solution of[2];
        pairs = common_affordable(e, (i + 1.0) / intended, intended, least);
        const int first = i & 1;
        of[first] = solve(&s, first);
        of[!first] = solve(&s, !first);
        if (e->rank == 0 && i >= 0)
            row(e, "krylov %d %s %d %d %.0f %.0f %d %d %.17g %.17g", e->ranks,
                inter ? "inter-node" : "intra-node", vertices_per_side * vertices_per_side, i,
                of[0].time_ns, of[1].time_ns, of[0].iterations, of[1].iterations, of[0].residual,
                of[1].residual);
        report_progress(e, "krylov", i + 1 < pairs ? (i + 1.0) / pairs : 1);
        stop = out_of_time(e);
        MPI_Bcast(&stop, 1, MPI_INT, 0, e->control);
    }
    free(s.x), free(s.b), free(s.r), free(s.p), free(s.q);
    free(s.requests);
    free(s.statuses);
    matrix_free(&s.m);
}
