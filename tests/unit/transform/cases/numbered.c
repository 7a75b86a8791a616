/* Six faces of a grid in a structure, packed and unpacked by their number. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define AT(g, i, j, k) (((i) * ((g)->ny + 2) + (j)) * ((g)->nz + 2) + (k))
typedef struct {
    int nx, ny, nz, nbr[6], len[6];
    MPI_Comm comm;
    double *u, *v, *out[6], *in[6];
    MPI_Request req[12];
} grid;

static double *array(size_t n)
{
    double *made = calloc(n, sizeof *made);
    if (made == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return made;
}

static void begin(grid *g)
{
    int dims[3] = {0, 0, 0}, round[3] = {1, 1, 1}, size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, round, 0, &g->comm);
    MPI_Comm_rank(g->comm, &rank);
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(g->comm, d, 1, &g->nbr[2 * d], &g->nbr[2 * d + 1]);
    g->len[0] = g->len[1] = g->ny * g->nz;
    g->len[2] = g->len[3] = g->nx * g->nz;
    g->len[4] = g->len[5] = g->nx * g->ny;
    g->u = array((size_t)(g->nx + 2) * (g->ny + 2) * (g->nz + 2));
    g->v = array((size_t)(g->nx + 2) * (g->ny + 2) * (g->nz + 2));
    for (int f = 0; f < 6; f++) {
        g->out[f] = array(g->len[f]);
        g->in[f] = array(g->len[f]);
    }
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++)
            for (int k = 1; k <= g->nz; k++)
                g->u[AT(g, i, j, k)] = sin(0.1 * i + rank) + 0.01 * j + k;
}

static void pack(grid *g, int f)
{
    int n = 0;
    double *b = g->out[f];
    if (f / 2 == 0) {
        int i = f == 0 ? 1 : g->nx;
        for (int j = 1; j <= g->ny; j++)
            for (int k = 1; k <= g->nz; k++)
                b[n++] = g->u[AT(g, i, j, k)];
    } else if (f / 2 == 1) {
        int j = f == 2 ? 1 : g->ny;
        for (int i = 1; i <= g->nx; i++)
            for (int k = 1; k <= g->nz; k++)
                b[n++] = g->u[AT(g, i, j, k)];
    } else {
        int k = f == 4 ? 1 : g->nz;
        for (int i = 1; i <= g->nx; i++)
            for (int j = 1; j <= g->ny; j++)
                b[n++] = g->u[AT(g, i, j, k)];
    }
}

static void ghosts(const grid *g, int f, int low[3], int high[3])
{
    low[0] = low[1] = low[2] = 1;
    high[0] = g->nx;
    high[1] = g->ny;
    high[2] = g->nz;
    switch (f) {
    case 0:
        low[0] = high[0] = 0;
        break;
    case 1:
        low[0] = high[0] = g->nx + 1;
        break;
    case 2:
        low[1] = high[1] = 0;
        break;
    case 3:
        low[1] = high[1] = g->ny + 1;
        break;
    case 4:
        low[2] = high[2] = 0;
        break;
    default:
        low[2] = high[2] = g->nz + 1;
    }
}

static void unpack(grid *g, int f)
{
    int low[3], high[3], n = 0;
    double *b = g->in[f], *u = g->u;
    ghosts(g, f, low, high);
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int k = low[2]; k <= high[2]; k++)
                u[AT(g, i, j, k)] = b[n++];
}

static void exchange(grid *g)
{
    for (int f = 0; f < 6; f++)
        MPI_Irecv(g->in[f], g->len[f], MPI_DOUBLE, g->nbr[f], f ^ 1, g->comm, &g->req[f]);
    for (int f = 0; f < 6; f++) {
        pack(g, f);
        MPI_Isend(g->out[f], g->len[f], MPI_DOUBLE, g->nbr[f], f, g->comm, &g->req[6 + f]);
    }
    MPI_Waitall(12, g->req, MPI_STATUSES_IGNORE);
    for (int f = 0; f < 6; f++)
        unpack(g, f);
}

static void relax(grid *g)
{
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++)
            for (int k = 1; k <= g->nz; k++)
                g->v[AT(g, i, j, k)] =
                    (g->u[AT(g, i - 1, j, k)] + g->u[AT(g, i + 1, j, k)] + g->u[AT(g, i, j - 1, k)]
                     + g->u[AT(g, i, j + 1, k)] + g->u[AT(g, i, j, k - 1)] + g->u[AT(g, i, j, k + 1)])
                    / 6;
}

int main(int argc, char **argv)
{
    grid g = {.nx = 12, .ny = 10, .nz = 8};
    double sum = 0, all;
    int rank;
    MPI_Init(&argc, &argv);
    begin(&g);
    for (int t = 0; t < 10; t++) {
        exchange(&g);
        relax(&g);
        double *s = g.u;
        g.u = g.v;
        g.v = s;
    }
    for (int i = 1; i <= g.nx; i++)
        for (int j = 1; j <= g.ny; j++)
            for (int k = 1; k <= g.nz; k++)
                sum += g.u[AT(&g, i, j, k)] * (i + j * k);
    MPI_Comm_rank(g.comm, &rank);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, g.comm);
    if (rank == 0)
        printf("%.10f\n", all);
    MPI_Finalize();
    return 0;
}
