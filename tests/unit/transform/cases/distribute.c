/* Loops that compute what is sent and other things, and that use what is received and other things:
 * each becomes two. */
#include <mpi.h>
#include <stdio.h>

#define N 2000
static double u[N + 2], v[N + 2], w[N + 2], edge[N + 2], got[N + 2];

int main(int argc, char **argv)
{
    int rank, size, left, right;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int step = 0; step < 5; step++) {
        for (int i = 1; i <= N; i++) {
            double flux = 0.5 * (u[i] + u[i - 1]) + rank;
            /* What the neighbour needs. */
            edge[i] = 2.0 * flux;
            v[i] = v[i] + flux * edge[i] / (1.0 + i);
        }
        MPI_Sendrecv(edge, N + 2, MPI_DOUBLE, right, 0, got, N + 2, MPI_DOUBLE, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= N; i++) {
            w[i] = 0.25 * (v[i] + v[i - 1]); /* needs nothing of the message */
            u[i] = w[i] - got[i];
        }
    }
    for (int i = 1; i <= N; i++)
        sum += u[i] + v[i] + w[i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
