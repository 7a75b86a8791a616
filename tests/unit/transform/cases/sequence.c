#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
typedef struct { int nx, ny; int west, east, south, north; MPI_Comm comm; MPI_Datatype column; } domain_t;
static void exchange_ns(domain_t *d, double *u)
{
    int w = d->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(u + 1, d->nx, MPI_DOUBLE, d->south, 0, d->comm, &r[0]);
    MPI_Irecv(u + (d->ny + 1) * w + 1, d->nx, MPI_DOUBLE, d->north, 1, d->comm, &r[1]);
    MPI_Isend(u + w + 1, d->nx, MPI_DOUBLE, d->south, 1, d->comm, &r[2]);
    MPI_Isend(u + d->ny * w + 1, d->nx, MPI_DOUBLE, d->north, 0, d->comm, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
static void exchange_we(domain_t *d, double *u)
{
    int w = d->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(u + w, 1, d->column, d->west, 2, d->comm, &r[0]);
    MPI_Irecv(u + w + d->nx + 1, 1, d->column, d->east, 3, d->comm, &r[1]);
    MPI_Isend(u + w + 1, 1, d->column, d->west, 3, d->comm, &r[2]);
    MPI_Isend(u + w + d->nx, 1, d->column, d->east, 2, d->comm, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    domain_t d;
    int dims[2] = {0, 0}, periods[2] = {0, 0}, size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &d.comm);
    MPI_Comm_rank(d.comm, &rank);
    MPI_Cart_shift(d.comm, 0, 1, &d.south, &d.north);
    MPI_Cart_shift(d.comm, 1, 1, &d.west, &d.east);
    d.nx = 50;
    d.ny = 40;
    MPI_Type_vector(d.ny, 1, d.nx + 2, MPI_DOUBLE, &d.column);
    MPI_Type_commit(&d.column);
    int w = d.nx + 2;
    double *u = malloc(w * (d.ny + 2) * sizeof(double)), *v = malloc(w * (d.ny + 2) * sizeof(double));
    for (int i = 0; i < w * (d.ny + 2); i++) { u[i] = sin(0.3 * i + rank); v[i] = 0; }
    for (int it = 0; it < 12; it++) {
        exchange_ns(&d, u);
        exchange_we(&d, u);
        for (int j = 1; j <= d.ny; j++)
            for (int i = 1; i <= d.nx; i++)
                v[j * w + i] = 0.25 * (u[(j - 1) * w + i] + u[(j + 1) * w + i] + u[j * w + i - 1] + u[j * w + i + 1]);
        for (int j = 1; j <= d.ny; j++)
            for (int i = 1; i <= d.nx; i++) u[j * w + i] = v[j * w + i];
    }
    double s = 0, t;
    for (int j = 1; j <= d.ny; j++)
        for (int i = 1; i <= d.nx; i++) s += u[j * w + i];
    MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, d.comm);
    if (rank == 0) printf("%.15g\n", t);
    MPI_Type_free(&d.column);
    free(u); free(v);
    MPI_Finalize();
    return 0;
}
