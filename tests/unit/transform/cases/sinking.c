/* An exchange in front of a routine whose loop has bounds of its own: it goes into that routine,
   where the loop can be divided. */
#include <mpi.h>
#include <stdio.h>
#define N 1000
static double u[N], v[N];
static int left, right, relaxed;

static void exchange(void)
{
    double edge[2];
    MPI_Request requests[4];
    MPI_Irecv(&edge[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&edge[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&u[N - 2], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    u[0] = edge[0];
    u[N - 1] = edge[1];
}

static void relax(void)
{
    relaxed++; /* so that it is more than one loop nest */
    for (int i = 1; i < N - 1; i++)
        v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]) + 1e-3 * relaxed;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 20; step++) {
        exchange();
        relax();
        for (int i = 1; i < N - 1; i++)
            u[i] = v[i];
    }
    printf("%.17g %.17g %d\n", u[1], u[N - 2], relaxed);
    MPI_Finalize();
    return 0;
}
