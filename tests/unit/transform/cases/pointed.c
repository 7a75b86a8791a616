/* Kernels that go through local pointers: to fields, to rows and to cells. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny;
    double *u, *f, *w;
    int up, down;
} Grid;

static void exchange(const Grid *g, double *a)
{
    int m = g->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(a, m, MPI_DOUBLE, g->up, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(a + (g->ny + 1) * m, m, MPI_DOUBLE, g->down, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(a + m, m, MPI_DOUBLE, g->up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(a + g->ny * m, m, MPI_DOUBLE, g->down, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void by_rows(Grid *g)
{
    const int m = g->nx + 2;
    const double *u = g->u;
    double *f = g->f;
    for (int j = 1; j <= g->ny; j++) {
        const double *row = u + j * m, *north = row - m, *south = row + m;
        double *out = f + j * m;
        for (int i = 1; i <= g->nx; i++)
            out[i] = 0.25 * (north[i] + south[i] + row[i - 1] + row[i + 1]);
    }
}

static void by_cells(Grid *g)
{
    const int m = g->nx + 2;
    double *const w = g->w;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++) {
            const double *cell = &g->f[j * m + i];
            w[j * m + i] = cell[0] + 0.1 * (cell[-m] + cell[m] + cell[-1] + cell[1]);
        }
}

static void back(Grid *g)
{
    double *u = g->u;
    const double *w = g->w;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            u[j * (g->nx + 2) + i] = 0.6 * w[j * (g->nx + 2) + i];
}

int main(int argc, char **argv)
{
    int rank, size;
    Grid g;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    g.nx = 60;
    g.ny = 40;
    int cells = (g.nx + 2) * (g.ny + 2);
    g.u = calloc(cells, sizeof(double));
    g.f = calloc(cells, sizeof(double));
    g.w = calloc(cells, sizeof(double));
    g.up = rank ? rank - 1 : MPI_PROC_NULL;
    g.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < cells; i++)
        g.u[i] = (i * 7 + rank) % 13;
    for (int step = 0; step < 10; step++) {
        exchange(&g, g.u);
        by_rows(&g);
        exchange(&g, g.f);
        by_cells(&g);
        back(&g);
    }
    double s = 0;
    for (int i = 0; i < cells; i++)
        s += g.u[i] + g.f[i];
    printf("%d: %.12g\n", rank, s);
    MPI_Finalize();
    return 0;
}
