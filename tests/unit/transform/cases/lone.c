/* A wrapper with two local requests, of which neither is an array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int left, right;
static void exchange(double *u, int n)
{
    MPI_Request r1 = MPI_REQUEST_NULL, r2 = MPI_REQUEST_NULL;
    MPI_Status status;
    if (left != MPI_PROC_NULL)
        MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r1);
    if (right != MPI_PROC_NULL)
        MPI_Irecv(&u[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r2);
    MPI_Send(&u[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD);
    MPI_Send(&u[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&r1, &status);
    MPI_Wait(&r2, &status);
}
static void relax(const double *u, double *v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = 0.25 * (u[i - 1] + 2 * u[i] + u[i + 1]);
}
int main(int argc, char **argv)
{
    int rank, size, n = 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    for (int i = 0; i <= n + 1; i++)
        u[i] = v[i] = rank + i % 7;
    for (int t = 0; t < 50; t++) {
        exchange(u, n);
        relax(u, v, n);
        double *s = u;
        u = v;
        v = s;
    }
    double sum = 0, all;
    for (int i = 1; i <= n; i++)
        sum += u[i] * i;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.10f\n", all);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
