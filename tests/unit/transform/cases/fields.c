#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int nx, ny, ld;
    int west, east, south, north;
    MPI_Comm comm;
    MPI_Datatype column;
    double *u, *v;
} grid;
#define U(g, p, i, j) (p)[(size_t)(j) * (g)->ld + (i)]
static void halo(grid *g, double *p)
{
    MPI_Request r[8];
    MPI_Irecv(&U(g, p, 1, 0), g->nx, MPI_DOUBLE, g->south, 0, g->comm, &r[0]);
    MPI_Irecv(&U(g, p, 1, g->ny + 1), g->nx, MPI_DOUBLE, g->north, 1, g->comm, &r[1]);
    MPI_Irecv(&U(g, p, 0, 1), 1, g->column, g->west, 2, g->comm, &r[2]);
    MPI_Irecv(&U(g, p, g->nx + 1, 1), 1, g->column, g->east, 3, g->comm, &r[3]);
    MPI_Isend(&U(g, p, 1, g->ny), g->nx, MPI_DOUBLE, g->north, 0, g->comm, &r[4]);
    MPI_Isend(&U(g, p, 1, 1), g->nx, MPI_DOUBLE, g->south, 1, g->comm, &r[5]);
    MPI_Isend(&U(g, p, g->nx, 1), 1, g->column, g->east, 2, g->comm, &r[6]);
    MPI_Isend(&U(g, p, 1, 1), 1, g->column, g->west, 3, g->comm, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}
static void smooth(const grid *g, const double *restrict p, double *restrict q)
{
    const int nx = g->nx, ny = g->ny;
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++)
            U(g, q, i, j) = 0.25 * (U(g, p, i - 1, j) + U(g, p, i + 1, j) + U(g, p, i, j - 1) +
                                    U(g, p, i, j + 1));
}
static void swap(grid *g)
{
    double *t = g->u;
    g->u = g->v;
    g->v = t;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 64, size, rank, dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    grid g;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &g.comm);
    MPI_Comm_rank(g.comm, &rank);
    MPI_Cart_shift(g.comm, 0, 1, &g.west, &g.east);
    MPI_Cart_shift(g.comm, 1, 1, &g.south, &g.north);
    g.nx = n / dims[0];
    g.ny = n / dims[1];
    g.ld = g.nx + 2;
    MPI_Type_vector(g.ny, 1, g.ld, MPI_DOUBLE, &g.column);
    MPI_Type_commit(&g.column);
    g.u = calloc((size_t)g.ld * (g.ny + 2), sizeof(double));
    g.v = calloc((size_t)g.ld * (g.ny + 2), sizeof(double));
    for (int j = 0; j < g.ny + 2; j++)
        for (int i = 0; i < g.ld; i++)
            U(&g, g.u, i, j) = U(&g, g.v, i, j) = rank + 0.01 * i + 0.1 * j;
    for (int s = 0; s < 20; s++) {
        halo(&g, g.u);
        smooth(&g, g.u, g.v);
        swap(&g);
    }
    double sum = 0, all;
    for (int j = 1; j <= g.ny; j++)
        for (int i = 1; i <= g.nx; i++)
            sum += U(&g, g.u, i, j);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, g.comm);
    if (rank == 0)
        printf("%.15g\n", all);
    MPI_Type_free(&g.column);
    free(g.u);
    free(g.v);
    MPI_Finalize();
    return 0;
}
