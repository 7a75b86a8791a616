/* A routine that only calls the exchange of each field, which is nonblocking by itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
typedef struct { int nx, ny, up, down; double *u, *p, *v, *q; } field_t;
static void exchange(field_t *f, double *a)
{
    int w = f->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(a, w, MPI_DOUBLE, f->up, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(a + (f->ny + 1) * w, w, MPI_DOUBLE, f->down, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(a + w, w, MPI_DOUBLE, f->up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(a + f->ny * w, w, MPI_DOUBLE, f->down, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
static void exchange_all(field_t *f)
{
    exchange(f, f->u);
    exchange(f, f->p);
}
static double *make(int n, double s)
{
    double *a = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) a[i] = sin(s * i);
    return a;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    field_t f;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    f.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    f.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    f.nx = 50; f.ny = 40;
    int n = (f.nx + 2) * (f.ny + 2), w = f.nx + 2;
    f.u = make(n, 0.1 + rank); f.p = make(n, 0.2 + rank); f.v = make(n, 0); f.q = make(n, 0);
    for (int it = 0; it < 10; it++) {
        exchange_all(&f);
        for (int j = 1; j <= f.ny; j++)
            for (int i = 1; i <= f.nx; i++) {
                f.v[j * w + i] = 0.25 * (f.u[(j - 1) * w + i] + f.u[(j + 1) * w + i] + f.p[j * w + i]);
                f.q[j * w + i] = 0.25 * (f.p[(j - 1) * w + i] + f.p[(j + 1) * w + i] + f.u[j * w + i]);
            }
        for (int j = 1; j <= f.ny; j++)
            for (int i = 1; i <= f.nx; i++) { f.u[j * w + i] = f.v[j * w + i]; f.p[j * w + i] = f.q[j * w + i]; }
    }
    double s = 0, t;
    for (int i = 0; i < n; i++) s += f.u[i] + f.p[i];
    MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%.15g\n", t);
    MPI_Finalize();
    return 0;
}
