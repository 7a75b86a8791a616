/* A strip of a grid in a structure: its exchange and its step are routines, whose loops end at
   components, and the two arrays change places. The interior of the step needs no message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny, up, down;
    double *u, *v;
} strip;

#define AT(s, i, j) ((size_t)(i) * ((s)->nx + 2) + (j))

static void exchange(const strip *s, double *p)
{
    MPI_Request requests[4];
    MPI_Irecv(&p[AT(s, 0, 1)], s->nx, MPI_DOUBLE, s->down, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&p[AT(s, s->ny + 1, 1)], s->nx, MPI_DOUBLE, s->up, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&p[AT(s, s->ny, 1)], s->nx, MPI_DOUBLE, s->up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&p[AT(s, 1, 1)], s->nx, MPI_DOUBLE, s->down, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void relax(const strip *s, const double *p, double *q)
{
    const int nx = s->nx;
    for (int i = 1; i <= s->ny; i++)
        for (int j = 1; j <= nx; j++)
            q[AT(s, i, j)] = 0.25 * (p[AT(s, i - 1, j)] + p[AT(s, i + 1, j)] + p[AT(s, i, j - 1)] +
                                     p[AT(s, i, j + 1)]);
}

static void turn(strip *s)
{
    double *old = s->u;
    s->u = s->v;
    s->v = old;
}

int main(int argc, char **argv)
{
    strip s;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s.nx = 40;
    s.ny = 24 / size;
    s.up = (rank + 1) % size;
    s.down = (rank + size - 1) % size;
    s.u = malloc((size_t)(s.nx + 2) * (s.ny + 2) * sizeof(double));
    s.v = malloc((size_t)(s.nx + 2) * (s.ny + 2) * sizeof(double));
    for (int i = 0; i < s.ny + 2; i++)
        for (int j = 0; j < s.nx + 2; j++)
            s.u[AT(&s, i, j)] = s.v[AT(&s, i, j)] = 0.5 * i + rank + 0.25 * (j % 3);
    for (int step = 0; step < 20; step++) {
        exchange(&s, s.u);
        relax(&s, s.u, s.v);
        turn(&s);
    }
    printf("%.17g %.17g\n", s.u[AT(&s, 1, 3)], s.u[AT(&s, s.ny, s.nx)]);
    free(s.u);
    free(s.v);
    MPI_Finalize();
    return 0;
}
