/* Two objects of one size, which exchange the rows that they hold. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int nx, ny;
    double dx, dy;
    double **data;
} field;
typedef struct {
    int size, rank, nup, ndown;
} parallel_data;
static double **malloc_2d(int nx, int ny)
{
    double **array;
    array = malloc(nx * sizeof(double *));
    array[0] = malloc(nx * ny * sizeof(double));
    for (int i = 1; i < nx; i++)
        array[i] = array[0] + i * ny;
    return array;
}
static void free_2d(double **array)
{
    free(array[0]);
    free(array);
}
static void parallel_setup(parallel_data *parallel)
{
    MPI_Comm_size(MPI_COMM_WORLD, &parallel->size);
    MPI_Comm_rank(MPI_COMM_WORLD, &parallel->rank);
    parallel->nup = parallel->rank - 1;
    parallel->ndown = parallel->rank + 1;
    if (parallel->nup < 0)
        parallel->nup = MPI_PROC_NULL;
    if (parallel->ndown > parallel->size - 1)
        parallel->ndown = MPI_PROC_NULL;
}
static void set_field_dimensions(field *temperature, int nx, int ny, parallel_data *parallel)
{
    int nx_local = nx / parallel->size;
    temperature->dx = 0.1;
    temperature->dy = 0.1;
    temperature->nx = nx_local;
    temperature->ny = ny;
}
static void generate_field(field *temperature, parallel_data *parallel)
{
    temperature->data = malloc_2d(temperature->nx + 2, temperature->ny + 2);
    for (int i = 0; i < temperature->nx + 2; i++)
        for (int j = 0; j < temperature->ny + 2; j++)
            temperature->data[i][j] = (i * j + parallel->rank) % 7;
}
static void copy_field(field *from, field *to)
{
    for (int i = 0; i < from->nx + 2; i++)
        for (int j = 0; j < from->ny + 2; j++)
            to->data[i][j] = from->data[i][j];
}
static void swap_fields(field *temperature1, field *temperature2)
{
    double **tmp;
    tmp = temperature1->data;
    temperature1->data = temperature2->data;
    temperature2->data = tmp;
}
static void exchange(field *temperature, parallel_data *parallel)
{
    MPI_Sendrecv(temperature->data[1], temperature->ny + 2, MPI_DOUBLE, parallel->nup, 11,
                 temperature->data[temperature->nx + 1], temperature->ny + 2, MPI_DOUBLE, parallel->ndown, 11,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(temperature->data[temperature->nx], temperature->ny + 2, MPI_DOUBLE, parallel->ndown, 12,
                 temperature->data[0], temperature->ny + 2, MPI_DOUBLE, parallel->nup, 12,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void evolve(field *curr, field *prev, double a, double dt)
{
    double dx2 = prev->dx * prev->dx, dy2 = prev->dy * prev->dy;
    for (int i = 1; i < curr->nx + 1; i++)
        for (int j = 1; j < curr->ny + 1; j++)
            curr->data[i][j] = prev->data[i][j] + a * dt *
                ((prev->data[i + 1][j] - 2.0 * prev->data[i][j] + prev->data[i - 1][j]) / dx2 +
                 (prev->data[i][j + 1] - 2.0 * prev->data[i][j] + prev->data[i][j - 1]) / dy2);
}
int main(int argc, char **argv)
{
    double a = 0.5, dt;
    field current, previous;
    parallel_data parallelization;
    int rows = 120, cols = 40;
    MPI_Init(&argc, &argv);
    parallel_setup(&parallelization);
    set_field_dimensions(&current, rows, cols, &parallelization);
    set_field_dimensions(&previous, rows, cols, &parallelization);
    generate_field(&current, &parallelization);
    generate_field(&previous, &parallelization);
    copy_field(&current, &previous);
    dt = 0.001;
    for (int iter = 0; iter < 30; iter++) {
        exchange(&previous, &parallelization);
        evolve(&current, &previous, a, dt);
        swap_fields(&current, &previous);
    }
    double s = 0;
    for (int i = 1; i < previous.nx + 1; i++)
        for (int j = 1; j < previous.ny + 1; j++)
            s += previous.data[i][j] * i;
    printf("%d %.12g\n", parallelization.rank, s);
    free_2d(current.data);
    free_2d(previous.data);
    MPI_Finalize();
    return 0;
}
