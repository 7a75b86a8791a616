/* Pointers to rows at file scope, which a step exchanges. */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int nx = 20, ny = 30, rank, nproc;
double **u, **unew;
double **allocate(int n, int m)
{
    int i;
    double *block = (double *)calloc(n * m, sizeof(double));
    double **rows = (double **)malloc(n * sizeof(double *));
    for (i = 0; i < n; i++) rows[i] = &block[i * m];
    return rows;
}
void exchange_ghosts(void)
{
    int prev = (rank == 0) ? MPI_PROC_NULL : rank - 1, next = (rank == nproc - 1) ? MPI_PROC_NULL : rank + 1;
    MPI_Status st;
    MPI_Sendrecv(u[1], ny + 2, MPI_DOUBLE, prev, 100, u[nx + 1], ny + 2, MPI_DOUBLE, next, 100, MPI_COMM_WORLD, &st);
    MPI_Sendrecv(u[nx], ny + 2, MPI_DOUBLE, next, 200, u[0], ny + 2, MPI_DOUBLE, prev, 200, MPI_COMM_WORLD, &st);
}
double update(void)
{
    int i, j;
    double maxdiff = 0.0;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++) {
            unew[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1]);
            if (fabs(unew[i][j] - u[i][j]) > maxdiff) maxdiff = fabs(unew[i][j] - u[i][j]);
        }
    return maxdiff;
}
int main(int argc, char **argv)
{
    int iter = 0, i, j;
    double local, global = 1.0, **tmp;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nproc);
    u = allocate(nx + 2, ny + 2);
    unew = allocate(nx + 2, ny + 2);
    for (i = 0; i < nx + 2; i++) { u[i][0] = unew[i][0] = 1.0; u[i][ny + 1] = unew[i][ny + 1] = rank; }
    while (global > 1e-3 && iter < 30) {
        exchange_ghosts();
        local = update();
        MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        tmp = u; u = unew; unew = tmp;
        iter++;
    }
    double s = 0;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++) s += u[i][j];
    printf("%d %d %.12g\n", rank, iter, s);
    MPI_Finalize();
    return 0;
}
