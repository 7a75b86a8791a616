/* Work in layers: what a step calls has the loops that need the halo. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int nx, ny;
    double *u, *f, *w;
    int up, down;
} Grid;
static void exchange(Grid *g)
{
    int m = g->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(g->u, m, MPI_DOUBLE, g->up, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(g->u + (g->ny + 1) * m, m, MPI_DOUBLE, g->down, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(g->u + m, m, MPI_DOUBLE, g->up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(g->u + g->ny * m, m, MPI_DOUBLE, g->down, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
static void flux(Grid *g)
{
    int m = g->nx + 2;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            g->f[j * m + i] = g->u[(j - 1) * m + i] + g->u[(j + 1) * m + i] + g->u[j * m + i - 1] +
                              g->u[j * m + i + 1] - 4.0 * g->u[j * m + i];
}
static void source(Grid *g, double t)
{
    int m = g->nx + 2;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            g->w[j * m + i] = t * i + j;
}
static void update(Grid *g, double dt)
{
    int m = g->nx + 2;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            g->u[j * m + i] += dt * (g->f[j * m + i] + 1e-3 * g->w[j * m + i]);
}
static void advance(Grid *g, double dt, int step)
{
    double t = step * dt;
    source(g, t);
    flux(g);
    update(g, dt);
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Grid g = {60, 40};
    int cells = (g.nx + 2) * (g.ny + 2);
    g.u = calloc(cells, sizeof(double));
    g.f = calloc(cells, sizeof(double));
    g.w = calloc(cells, sizeof(double));
    g.up = rank ? rank - 1 : MPI_PROC_NULL;
    g.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < cells; i++)
        g.u[i] = (i * 7 + rank) % 13;
    for (int step = 0; step < 10; step++) {
        exchange(&g);
        advance(&g, 0.1, step);
    }
    double s = 0;
    for (int i = 0; i < cells; i++)
        s += g.f[i] + g.w[i];
    printf("%d %.12g\n", rank, s);
    MPI_Finalize();
    return 0;
}
