/* Progress calls in loops whose index is declared before them. */
#include <mpi.h>
#include <stdio.h>
#define N 4000000
static double a[N], b[N], c[N];
int main(int argc, char **argv)
{
    int rank, peer, i;
    long k;
    size_t m;
    double sum = 0.0;
    MPI_Request r, s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (i = 0; i < N; i++)
        c[i] = rank + i;
    MPI_Irecv(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &r);
    MPI_Isend(c, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &s);
    for( i=0; i<N; i++ )
        b[i] = 2.0 * b[i] + i;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Irecv(a, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r);
    MPI_Isend(c, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &s);
    for ( k = 0 ; k < N; k++)
        b[k] = 0.5 * b[k] + 1.0;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Irecv(a, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &r);
    MPI_Isend(c, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &s);
    for (m = 0; m < N; m++)
        b[m] = 0.5 * b[m] + 3.0;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    for (i = 0; i < N; i++)
        sum += a[i] + b[i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
