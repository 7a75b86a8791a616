/* Conjugate gradients on an unstructured triangular mesh (see mesh.h): the sparse matrix-vector
 * product needs the ghost values of each neighbour (short gathered messages), the dot products an
 * MPI_Allreduce of one number. Variants:
 *   blocking    one MPI_Sendrecv per neighbour, then all rows
 *   separate    MPI_Irecv and MPI_Isend to all neighbours, MPI_Waitall, then all rows
 *   overlapped  rows that need no ghost are computed before the MPI_Waitall
 *
 * The right side belongs to a known solution, which the iteration must find. */
#include "../common/options.h"
#include "../common/work.h"
#include "mesh.h"

static void multiply_rows(const struct matrix *m, const double *p, double *q, int first, int last)
{
    WORK(last - first);
    for (int row = first; row < last; row++) {
        double sum = 0.0;
        for (int k = m->row_start[row]; k < m->row_start[row + 1]; k++)
            sum += m->value[k] * p[m->column[k]];
        q[row] = sum;
    }
}

static void gather(const struct matrix *m, const double *p, int k)
{
    for (int i = m->send_start[k]; i < m->send_start[k + 1]; i++)
        m->buffer[i] = p[m->send_list[i]];
}

/* q = A p; p has room for the ghosts behind its owned values. */
static void multiply_blocking(const struct matrix *m, double *p, double *q)
{
    for (int k = 0; k < m->neighbours; k++) {
        gather(m, p, k);
        MPI_Sendrecv(&m->buffer[m->send_start[k]], m->send_start[k + 1] - m->send_start[k],
                     MPI_DOUBLE, m->neighbour[k], 1, &p[m->owned + m->ghost_start[k]],
                     m->ghost_start[k + 1] - m->ghost_start[k], MPI_DOUBLE, m->neighbour[k], 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    multiply_rows(m, p, q, 0, m->owned);
}

static void start_exchange(const struct matrix *m, double *p, MPI_Request *requests)
{
    for (int k = 0; k < m->neighbours; k++)
        MPI_Irecv(&p[m->owned + m->ghost_start[k]], m->ghost_start[k + 1] - m->ghost_start[k],
                  MPI_DOUBLE, m->neighbour[k], 1, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < m->neighbours; k++) {
        gather(m, p, k);
        MPI_Isend(&m->buffer[m->send_start[k]], m->send_start[k + 1] - m->send_start[k], MPI_DOUBLE,
                  m->neighbour[k], 1, MPI_COMM_WORLD, &requests[m->neighbours + k]);
    }
}

static MPI_Request *requests;

static void multiply_separate(const struct matrix *m, double *p, double *q)
{
    start_exchange(m, p, requests);
    MPI_Waitall(2 * m->neighbours, requests, MPI_STATUSES_IGNORE);
    multiply_rows(m, p, q, 0, m->owned);
}

static void multiply_overlapped(const struct matrix *m, double *p, double *q)
{
    start_exchange(m, p, requests);
    multiply_rows(m, p, q, 0, m->inside);
    MPI_Waitall(2 * m->neighbours, requests, MPI_STATUSES_IGNORE);
    multiply_rows(m, p, q, m->inside, m->owned);
}

static double dot(const struct matrix *m, const double *a, const double *b)
{
    double local = 0.0, sum;
    for (int i = 0; i < m->owned; i++)
        local += a[i] * b[i];
    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double *vector(const struct matrix *m)
{
    double *v = calloc((size_t)(m->owned + m->ghosts) + 1, sizeof *v);
    if (!v)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return v;
}

int main(int argc, char **argv)
{
    long n = 200, iterations = 2000;
    double tolerance = 1e-10, jitter = 0.2;
    const char *variant = "separate";
    struct app_option options[] = {
        {"n", OPTION_LONG, &n, "vertices in each dimension"},
        {"iterations", OPTION_LONG, &iterations, "at most so many iterations"},
        {"tolerance", OPTION_DOUBLE, &tolerance, "relative residual at which to stop"},
        {"jitter", OPTION_DOUBLE, &jitter, "irregularity of the mesh, 0 to 0.24"},
        {"variant", OPTION_TEXT, &variant, "blocking, separate or overlapped"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "cg: conjugate gradients on an unstructured mesh", options, 5);

    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void (*multiply)(const struct matrix *, double *, double *) = NULL;
    if (strcmp(variant, "blocking") == 0)
        multiply = multiply_blocking;
    else if (strcmp(variant, "separate") == 0)
        multiply = multiply_separate;
    else if (strcmp(variant, "overlapped") == 0)
        multiply = multiply_overlapped;
    else
        options_refuse(rank, "unknown variant", variant);
    if (n < 2 || n > 10000 || n * n < 4 * size || jitter < 0.0 || jitter > 0.24)
        options_refuse(rank, "--n or --jitter out of range for", argv[0]);

    struct matrix m;
    matrix_make(&m, MPI_COMM_WORLD, (int)n, jitter);
    requests = malloc((size_t)(2 * m.neighbours + 1) * sizeof *requests);
    double *x = vector(&m), *b = vector(&m), *r = vector(&m), *p = vector(&m), *q = vector(&m);

    for (int i = 0; i < m.owned; i++)
        p[i] = sin(M_PI * m.x[i]) * sin(2.0 * M_PI * m.y[i]) + m.x[i] * (1.0 - m.x[i]);
    multiply(&m, p, b);
    memcpy(r, b, (size_t)m.owned * sizeof *r);
    memcpy(p, b, (size_t)m.owned * sizeof *p);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    double rho = dot(&m, r, r), limit = tolerance * tolerance * rho;
    long done = 0;
    while (done < iterations && rho > limit) {
        multiply(&m, p, q);
        double alpha = rho / dot(&m, p, q);
        for (int i = 0; i < m.owned; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double rho_new = dot(&m, r, r), beta = rho_new / rho;
        rho = rho_new;
        for (int i = 0; i < m.owned; i++)
            p[i] = r[i] + beta * p[i];
        done++;
    }
    double seconds = MPI_Wtime() - start;

    /* the true residual, and the distance from the known solution */
    double worst = 0.0, error;
    multiply(&m, x, q);
    for (int i = 0; i < m.owned; i++) {
        r[i] = b[i] - q[i];
        double known = sin(M_PI * m.x[i]) * sin(2.0 * M_PI * m.y[i]) + m.x[i] * (1.0 - m.x[i]);
        worst = fmax(worst, fabs(x[i] - known));
    }
    MPI_Allreduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double residual = sqrt(dot(&m, r, r) / dot(&m, b, b));
    double norm = sqrt(dot(&m, x, x)) / (double)n;
    if (rank == 0)
        printf("cg: %ld vertices, %ld iterations, %d ranks, variant %s\n"
               "time: %.9f s, relative residual %.3e, largest error %.3e\n",
               n * n, done, size, variant, seconds, residual, error);
    int passed = residual < 2.0 * tolerance && error < 1e4 * tolerance;
    int status = verification(rank, passed, norm);
    matrix_free(&m);
    free(requests);
    free(x);
    free(b);
    free(r);
    free(p);
    free(q);
    MPI_Finalize();
    return status;
}
