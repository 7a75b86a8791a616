/* Heat in two dimensions: what a process knows of its neighbours, and the type of a column, stand
 * in a structure; a function exchanges the two arrays, and a norm is printed now and then. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    MPI_Comm cart;
    int rank, size, dims[2], north, south, west, east, nx, ny;
    MPI_Datatype column;
    double *u, *unew;
} domain;

#define AT(d, i, j) ((i) * ((d)->ny + 2) + (j))

static void setup(domain *d, int nx, int ny)
{
    int periods[2] = {0, 0};
    memset(d, 0, sizeof *d);
    MPI_Comm_size(MPI_COMM_WORLD, &d->size);
    MPI_Dims_create(d->size, 2, d->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, d->dims, periods, 0, &d->cart);
    MPI_Comm_rank(d->cart, &d->rank);
    MPI_Cart_shift(d->cart, 0, 1, &d->north, &d->south);
    MPI_Cart_shift(d->cart, 1, 1, &d->west, &d->east);
    d->nx = nx / d->dims[0];
    d->ny = ny / d->dims[1];
    MPI_Type_vector(d->nx, 1, d->ny + 2, MPI_DOUBLE, &d->column);
    MPI_Type_commit(&d->column);
    d->u = calloc((d->nx + 2) * (d->ny + 2), sizeof(double));
    d->unew = calloc((d->nx + 2) * (d->ny + 2), sizeof(double));
}

static void exchange(double *u, const domain *d)
{
    MPI_Request req[8];
    MPI_Irecv(&u[AT(d, 0, 1)], d->ny, MPI_DOUBLE, d->north, 0, d->cart, &req[0]);
    MPI_Irecv(&u[AT(d, d->nx + 1, 1)], d->ny, MPI_DOUBLE, d->south, 1, d->cart, &req[1]);
    MPI_Irecv(&u[AT(d, 1, 0)], 1, d->column, d->west, 2, d->cart, &req[2]);
    MPI_Irecv(&u[AT(d, 1, d->ny + 1)], 1, d->column, d->east, 3, d->cart, &req[3]);
    MPI_Isend(&u[AT(d, d->nx, 1)], d->ny, MPI_DOUBLE, d->south, 0, d->cart, &req[4]);
    MPI_Isend(&u[AT(d, 1, 1)], d->ny, MPI_DOUBLE, d->north, 1, d->cart, &req[5]);
    MPI_Isend(&u[AT(d, 1, d->ny)], 1, d->column, d->east, 2, d->cart, &req[6]);
    MPI_Isend(&u[AT(d, 1, 1)], 1, d->column, d->west, 3, d->cart, &req[7]);
    MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
}

static double sweep(const double *u, double *unew, const domain *d)
{
    double largest = 0.0;
    for (int i = 1; i <= d->nx; i++)
        for (int j = 1; j <= d->ny; j++) {
            unew[AT(d, i, j)] = 0.25 * (u[AT(d, i - 1, j)] + u[AT(d, i + 1, j)] +
                                        u[AT(d, i, j - 1)] + u[AT(d, i, j + 1)]);
            double change = fabs(unew[AT(d, i, j)] - u[AT(d, i, j)]);
            if (change > largest)
                largest = change;
        }
    return largest;
}

static void swap(double **a, double **b)
{
    double *tmp = *a;
    *a = *b;
    *b = tmp;
}

static void print_norm(const domain *d, int step)
{
    double largest = 0.0, all;
    for (int i = 1; i <= d->nx; i++)
        for (int j = 1; j <= d->ny; j++)
            if (d->u[AT(d, i, j)] > largest)
                largest = d->u[AT(d, i, j)];
    MPI_Reduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, 0, d->cart);
    if (d->rank == 0)
        printf("step %d: %.17g\n", step, all);
}

int main(int argc, char **argv)
{
    domain d;
    double change = 1.0;
    MPI_Init(&argc, &argv);
    setup(&d, 32, 32);
    for (int i = 1; i <= d.nx; i++)
        for (int j = 1; j <= d.ny; j++)
            d.u[AT(&d, i, j)] = (i * 7 + j * 3 + d.rank * 13) % 16;
    for (int step = 0; change > 1e-3 && step < 25; step++) {
        exchange(d.u, &d);
        double mine = sweep(d.u, d.unew, &d);
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, d.cart);
        swap(&d.u, &d.unew);
        if (step % 10 == 0)
            print_norm(&d, step);
    }
    print_norm(&d, 25);
    free(d.u);
    free(d.unew);
    MPI_Type_free(&d.column);
    MPI_Comm_free(&d.cart);
    MPI_Finalize();
    return 0;
}
