/* A plate in blocks, sizes known at run time: rows are sent as they lie, columns as a vector type
 * that the caller makes. Both travel while the interior is computed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void step(double *u, double *w, int nx, int ny, const int *beside, MPI_Datatype column)
{
    int left = beside[0], right = beside[1], up = beside[2], down = beside[3];
    MPI_Sendrecv(&u[(nx + 2) + 1], nx, MPI_DOUBLE, up, 0, &u[(ny + 1) * (nx + 2) + 1], nx,
                 MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[ny * (nx + 2) + 1], nx, MPI_DOUBLE, down, 1, &u[1], nx, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[nx + 2 + 1], 1, column, left, 2, &u[nx + 2 + nx + 1], 1, column, right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[nx + 2 + nx], 1, column, right, 3, &u[nx + 2], 1, column, left, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++)
            w[j * (nx + 2) + i] =
                0.25 * (u[(j - 1) * (nx + 2) + i] + u[(j + 1) * (nx + 2) + i] +
                        u[j * (nx + 2) + i - 1] + u[j * (nx + 2) + i + 1]);
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++)
            u[j * (nx + 2) + i] = w[j * (nx + 2) + i];
}

int main(int argc, char **argv)
{
    int rank, size, nx = 120, ny = 80;
    int dims[2] = {0, 0}, periods[2] = {0, 1}, beside[4];
    double sum = 0.0, *u, *w;
    MPI_Comm cart;
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) {
        nx = atoi(argv[1]);
        ny = atoi(argv[2]);
    }
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_shift(cart, 1, 1, &beside[0], &beside[1]);
    MPI_Cart_shift(cart, 0, 1, &beside[2], &beside[3]);
    MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    u = malloc((size_t)(nx + 2) * (ny + 2) * sizeof(double));
    w = malloc((size_t)(nx + 2) * (ny + 2) * sizeof(double));
    for (int i = 0; i < (nx + 2) * (ny + 2); i++)
        u[i] = rank + 0.001 * i;
    for (int t = 0; t < 20; t++)
        step(u, w, nx, ny, beside, column);
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= nx; i++)
            sum += u[j * (nx + 2) + i] * (i + 3 * j);
    printf("%d %.17g\n", rank, sum);
    MPI_Type_free(&column);
    free(u);
    free(w);
    MPI_Finalize();
    return 0;
}
