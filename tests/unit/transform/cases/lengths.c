/* Arrays whose lengths are variables: parameters, casts of what is allocated, local arrays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny, up, down;
    double *u, *v;
} Grid;

static int width = 9;

static void exchange(int n, int m, double u[n + 2][m], int up, int down)
{
    MPI_Sendrecv(u[1], m, MPI_DOUBLE, up, 1, u[n + 1], m, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[n], m, MPI_DOUBLE, down, 2, u[0], m, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void sweep(int n, int m, double u[n + 2][m], double v[n + 2][m])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void edges(const Grid *g)
{
    double (*u)[g->ny + 2] = (double (*)[g->ny + 2])g->u;
    MPI_Sendrecv(&u[1][1], g->ny, MPI_DOUBLE, g->up, 3, &u[g->nx + 1][1], g->ny, MPI_DOUBLE,
                 g->down, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[g->nx][1], g->ny, MPI_DOUBLE, g->down, 4, &u[0][1], g->ny, MPI_DOUBLE, g->up,
                 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void relax(Grid *g)
{
    int nx = g->nx, ny = g->ny;
    double (*u)[ny + 2] = (double (*)[ny + 2])g->u;
    double (*v)[ny + 2] = (double (*)[ny + 2])g->v;
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++)
            v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void step(int n, double *restrict a, double *restrict b, int up, int down)
{
    double (*u)[width] = (double (*)[width])a;
    double (*v)[width] = (double (*)[width])b;
    MPI_Request r[4];
    MPI_Irecv(u[0], width, MPI_DOUBLE, up, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(u[n + 1], width, MPI_DOUBLE, down, 6, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(u[n], width, MPI_DOUBLE, down, 5, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(u[1], width, MPI_DOUBLE, up, 6, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < width - 1; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void show(const char *name, int rank, int count, const double *u)
{
    double sum = 0, total;
    for (int i = 0; i < count; i++)
        sum += u[i] * (i % 13 + 1);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.15g\n", name, total);
}

int main(int argc, char **argv)
{
    int rank, size, n = 8, m = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) {
        n = atoi(argv[1]);
        m = atoi(argv[2]);
    }
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    double (*u)[m] = malloc(sizeof(double[n + 2][m]));
    double (*v)[m] = malloc(sizeof(double[n + 2][m]));
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = v[i][j] = rank + 0.1 * i + 0.01 * j * j;
    for (int s = 0; s < 4; s++) {
        exchange(n, m, u, up, down);
        sweep(n, m, u, v);
        exchange(n, m, v, up, down);
        sweep(n, m, v, u);
    }
    show("parameters", rank, (n + 2) * m, u[0]);

    Grid g = {n, m, up, down, NULL, NULL};
    g.u = malloc((n + 2) * (m + 2) * sizeof(double));
    g.v = malloc((n + 2) * (m + 2) * sizeof(double));
    for (int i = 0; i < (n + 2) * (m + 2); i++)
        g.u[i] = g.v[i] = 0.3 * rank + 0.02 * (i % 17);
    for (int s = 0; s < 4; s++) {
        edges(&g);
        relax(&g);
        double *t = g.u;
        g.u = g.v;
        g.v = t;
    }
    show("casts", rank, (n + 2) * (m + 2), g.u);

    double *a = calloc((n + 2) * width, sizeof(double));
    double *b = calloc((n + 2) * width, sizeof(double));
    for (int i = 0; i < (n + 2) * width; i++)
        a[i] = b[i] = rank + 0.01 * (i % 11);
    for (int s = 0; s < 4; s++) {
        step(n, a, b, up, down);
        double *t = a;
        a = b;
        b = t;
    }
    show("restricted", rank, (n + 2) * width, a);

    double x[n + 2][m], y[n + 2][m];
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            x[i][j] = y[i][j] = 0.7 * rank + 0.1 * i * j;
    for (int s = 0; s < 4; s++) {
        MPI_Sendrecv(x[n], m, MPI_DOUBLE, down, 7, x[0], m, MPI_DOUBLE, up, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(x[1], m, MPI_DOUBLE, up, 8, x[n + 1], m, MPI_DOUBLE, down, 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sweep(n, m, x, y);
        for (int i = 1; i <= n; i++)
            for (int j = 1; j < m - 1; j++)
                x[i][j] = y[i][j];
    }
    show("local arrays", rank, (n + 2) * m, x[0]);
    free(u);
    free(v);
    free(g.u);
    free(g.v);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
