/* Faces of a brick in its middle dimension, which no count of a message tells the size of: what is
 * packed shows it, since an empty loop touches nothing. */
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

static void step(const struct brick *b, double *u, double *v, int up, int down, double *out,
                 double *in)
{
    int nx = b->n[0], ny = b->n[1], nz = b->n[2];

    for (int i = 1; i <= nx; i++)
        for (int k = 1; k <= nz; k++)
            out[(i - 1) * nz + k - 1] = u[at(b, i, 1, k)];
    MPI_Sendrecv(out, nx * nz, MPI_DOUBLE, up, 0, in, nx * nz, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= nx; i++)
        for (int k = 1; k <= nz; k++)
            u[at(b, i, ny + 1, k)] = in[(i - 1) * nz + k - 1];
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++)
            for (int k = 1; k <= nz; k++)
                v[at(b, i, j, k)] = 0.5 * u[at(b, i, j, k)] +
                                    0.25 * (u[at(b, i, j - 1, k)] + u[at(b, i, j + 1, k)]);
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
        step(&b, v, u, (rank + 1) % size, (rank + size - 1) % size, out, in);
    }
    for (int i = 0; i < points; i++)
        sum += u[i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
