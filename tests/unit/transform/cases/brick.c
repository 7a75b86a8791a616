/* A brick in linear memory: its nest of three loops is divided where the face that arrives is needed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct brick {
    int n[3];
};

static int at(const struct brick *b, int i, int j, int k)
{
    return (i * (b->n[1] + 2) + j) * (b->n[2] + 2) + k;
}

static void sweep(const struct brick *b, const double *u, double *v)
{
    for (int i = 1; i <= b->n[0]; i++)
        for (int j = 1; j <= b->n[1]; j++)
            for (int k = 1; k <= b->n[2]; k++)
                v[at(b, i, j, k)] = 0.1 * u[at(b, i, j, k)] +
                                    0.2 * (u[at(b, i - 1, j, k)] + u[at(b, i + 1, j, k)]) +
                                    0.2 * (u[at(b, i, j - 1, k)] + u[at(b, i, j + 1, k)]) +
                                    0.1 * (u[at(b, i, j, k - 1)] + u[at(b, i, j, k + 1)]);
}

static void step(const struct brick *b, double *u, double *v, int up, int down, double *out,
                 double *in)
{
    for (int j = 1; j <= b->n[1]; j++)
        for (int k = 1; k <= b->n[2]; k++)
            out[(j - 1) * b->n[2] + k - 1] = u[at(b, 1, j, k)];
    MPI_Sendrecv(out, b->n[1] * b->n[2], MPI_DOUBLE, up, 0, in, b->n[1] * b->n[2], MPI_DOUBLE,
                 down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 1; j <= b->n[1]; j++)
        for (int k = 1; k <= b->n[2]; k++)
            u[at(b, b->n[0] + 1, j, k)] = in[(j - 1) * b->n[2] + k - 1];
    for (int i = 1; i <= b->n[0]; i++)
        for (int j = 1; j <= b->n[1]; j++)
            for (int k = 1; k <= b->n[2]; k++)
                v[at(b, i, j, k)] = 0.1 * u[at(b, i, j, k)] +
                                    0.2 * (u[at(b, i - 1, j, k)] + u[at(b, i + 1, j, k)]) +
                                    0.2 * (u[at(b, i, j - 1, k)] + u[at(b, i, j + 1, k)]) +
                                    0.1 * (u[at(b, i, j, k - 1)] + u[at(b, i, j, k + 1)]);
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;
    struct brick b = {{20, 30, 40}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int points = (b.n[0] + 2) * (b.n[1] + 2) * (b.n[2] + 2);
    double *u = calloc(points, sizeof *u), *v = calloc(points, sizeof *v);
    double *out = calloc(points, sizeof *u), *in = calloc(points, sizeof *v);
    for (int i = 0; i < points; i++)
        u[i] = i % 7 + rank;
    for (int t = 0; t < 4; t++) {
        step(&b, u, v, (rank + 1) % size, (rank + size - 1) % size, out, in);
        sweep(&b, v, u);
    }
    for (int i = 0; i < points; i++)
        sum += u[i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
