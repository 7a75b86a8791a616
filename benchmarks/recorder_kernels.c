/* Loops with branches, calls and addresses that are read from memory, for recorder_slowdown.py: of
 * each the processor time of its fastest round, in nanoseconds an element. Two ranks exchange the
 * first and the last row of every array in every round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL static __attribute__((noinline)) void

typedef struct {
    double x, y, u, v;
} particle_t;

static int n, w;
static double *a, *b, *c;
static int *mask, *column, *first;
static particle_t *particles;
static volatile double sink;

KERNEL masked_stencil(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * w + j;
            if (mask[k])
                b[k] = 0.25 * (a[k - w] + a[k + w] + a[k - 1] + a[k + 1]);
        }
}

KERNEL sparse_product(void)
{
    for (int i = 0; i < n * n; i++) {
        double sum = 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            sum += c[k] * a[column[k]];
        b[i] = sum;
    }
}

static __attribute__((noinline)) double limited(double left, double right)
{
    double product = left * right;
    return product > 0 ? product / (left + right) : 0;
}

KERNEL with_call(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * w + j;
            b[k] = a[k] + limited(a[k] - a[k - 1], a[k + 1] - a[k]);
        }
}

static __attribute__((noinline)) void smooth(double *to, const double *from)
{
    *to = 0.25 * (from[-1] + from[1]) + 0.5 * from[0];
}

KERNEL with_call_that_accesses(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            smooth(b + i * w + j, a + i * w + j);
}

KERNEL while_loop(void)
{
    for (int i = 1; i <= n; i++) {
        const double *at = a + (size_t)i * w, *end = at + n;
        double sum = 0;
        while (at < end && sum < 1e30) {
            sum += *at * at[1];
            at++;
        }
        b[(size_t)i * w] = sum;
    }
}

KERNEL reduction_with_if(void)
{
    double sum = 0, most = 0;
    for (int k = 0; k < w * w; k++) {
        if (mask[k])
            sum += a[k] * c[k];
        if (a[k] > most)
            most = a[k];
    }
    sink = sum + most;
}

KERNEL particles_with_if(void)
{
    for (int i = 0; i < n * n; i++) {
        particle_t *p = particles + i;
        p->x += 0.01 * p->u;
        p->y += 0.01 * p->v;
        if (p->x < 0 || p->x > 1)
            p->u = -p->u;
        if (p->y < 0 || p->y > 1)
            p->v = -p->v;
    }
}

KERNEL upwind(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * w + j;
            if (c[k] > 0)
                b[k] = a[k] - c[k] * (a[k] - a[k - 1]);
            else
                b[k] = a[k] - c[k] * (a[k + 1] - a[k]);
        }
}

KERNEL indirect_update(void)
{
    for (int k = 0; k < 4 * n * n; k++)
        b[column[k]] += c[k];
}

static const struct {
    const char *name;
    void (*run)(void);
} kernels[] = {
    {"stencil with a mask", masked_stencil},
    {"sparse matrix, 5 a row", sparse_product},
    {"call of a function of values", with_call},
    {"call of a function of pointers", with_call_that_accesses},
    {"while with two conditions", while_loop},
    {"sum and maximum with if", reduction_with_if},
    {"particles, reflected", particles_with_if},
    {"upwind, if and else", upwind},
    {"indirect update", indirect_update},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void exchange(void *memory, size_t bytes, size_t row)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv((char *)memory + bytes - 2 * row, (int)row, MPI_BYTE, 1 - rank, 1, memory, (int)row,
                 MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A matrix of five points; of its rows at the edge some entries are of the row itself. */
static void fill(void)
{
    static const int by[5][2] = {{-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}};
    int entries = 0;
    for (int i = 0; i < n * n; i++) {
        first[i] = entries;
        for (int k = 0; k < 5; k++) {
            int row = i / n + by[k][0], at = i % n + by[k][1];
            column[entries++] = row < 0 || row >= n || at < 0 || at >= n ? i : row * n + at;
        }
        particles[i] = (particle_t){(i % 97) / 97.0, (i % 89) / 89.0, (i % 7) - 3, (i % 11) - 5};
    }
    first[n * n] = entries;
    for (int i = 0; i < entries; i++)
        c[i] = (i / 37) % 3 - 0.9;
    for (int i = 0; i < w * w; i++) {
        int x = i % w - n / 2, y = i / w - n / 2;
        mask[i] = x * x + y * y > n * n / 16;
        a[i] = 1 + (i % 13) / 13.0;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    n = atoi(argv[1]);
    w = n + 2;
    int steps = atoi(argv[2]), rank;
    size_t points = (size_t)w * (size_t)w, entries = 5 * points;
    a = calloc(points, sizeof *a);
    b = calloc(points, sizeof *b);
    c = calloc(entries, sizeof *c);
    mask = calloc(points, sizeof *mask);
    column = calloc(entries, sizeof *column);
    first = calloc(points + 1, sizeof *first);
    particles = calloc(points, sizeof *particles);
    fill();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        double least = 1e9;
        for (int s = -2; s < steps; s++) {
            size_t row = (size_t)w * sizeof *a;
            exchange(a, points * sizeof *a, row);
            exchange(b, points * sizeof *b, row);
            exchange(c, entries * sizeof *c, row);
            exchange(particles, (size_t)n * n * sizeof *particles, 4 * row);
            double begin = now();
            kernels[i].run();
            begin = now() - begin;
            least = begin < least ? begin : least;
        }
        if (rank == 0)
            printf("kernel %s: %.9f\n", kernels[i].name, least / n / n * 1e9);
    }
    MPI_Finalize();
    return 0;
}
