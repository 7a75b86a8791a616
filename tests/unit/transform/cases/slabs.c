/* Heat in a box that is cut into slabs, as a textbook has it: the fields are two pointers of the
 * whole program that change places, their planes are told by sizes that nobody declares, requests
 * are counted, and threads share the sweep and its largest change. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define IDX(i, j, k) (((size_t)(k) * ny + (j)) * nx + (i))

static int nx = 24, ny = 20, nz = 16, rank, size;
static double *u, *next;

static void exchange(double *f)
{
    MPI_Request requests[4];
    int n = 0;
    int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Irecv(f + IDX(0, 0, 0), nx * ny, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[n++]);
    MPI_Irecv(f + IDX(0, 0, nz + 1), nx * ny, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(f + IDX(0, 0, 1), nx * ny, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(f + IDX(0, 0, nz), nx * ny, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static double sweep(void)
{
    double largest = 0.0;
#pragma omp parallel for reduction(max : largest)
    for (int k = 1; k <= nz; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                double value = u[IDX(i, j, k)] +
                               0.1 * (u[IDX(i - 1, j, k)] + u[IDX(i + 1, j, k)] +
                                      u[IDX(i, j - 1, k)] + u[IDX(i, j + 1, k)] +
                                      u[IDX(i, j, k - 1)] + u[IDX(i, j, k + 1)] -
                                      6.0 * u[IDX(i, j, k)]);
                largest = fmax(largest, fabs(value - u[IDX(i, j, k)]));
                next[IDX(i, j, k)] = value;
            }
    return largest;
}

int main(int argc, char **argv)
{
    int provided, steps = argc > 1 ? atoi(argv[1]) : 8;
    double largest = 0.0, all = 0.0, sum = 0.0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    u = calloc((size_t)nx * ny * (nz + 2), sizeof(double));
    next = calloc((size_t)nx * ny * (nz + 2), sizeof(double));
    for (int k = 1; k <= nz; k++)
        u[IDX(nx / 2, ny / 2, k)] = k + rank;
    for (int step = 0; step < steps; step++) {
        exchange(u);
        largest = sweep();
        double *old = u;
        u = next;
        next = old;
    }
    MPI_Allreduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int k = 0; k < nx * ny * (nz + 2); k++)
        sum += u[k] * (k % 13);
    printf("rank %d of %d: largest %.15e sum %.15e\n", rank, size, all, sum);
    MPI_Finalize();
    return 0;
}
