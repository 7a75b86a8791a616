#include <mpi.h>
#include <stdio.h>

#define N 64

static double u[N + 2][N + 2];
static double to_low[N + 2], to_high[N + 2], from_low[N + 2], from_high[N + 2];

/* Both directions of one axis, one after the other: packing the second need not wait. */
static void exchange(int low, int high, MPI_Comm comm)
{
    for (int i = 1; i <= N; i++)
        to_low[i] = u[i][1];
    MPI_Sendrecv(to_low, N + 2, MPI_DOUBLE, low, 0, from_high, N + 2, MPI_DOUBLE, high, 0, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][N + 1] = from_high[i];
    for (int i = 1; i <= N; i++)
        to_high[i] = u[i][N];
    MPI_Sendrecv(to_high, N + 2, MPI_DOUBLE, high, 1, from_low, N + 2, MPI_DOUBLE, low, 1, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][0] = from_low[i];
}

/* What goes on is what came in: the ghosts of the one side are sent to the other. */
static void pass_on(int low, int high, MPI_Comm comm)
{
    MPI_Sendrecv(to_low, N + 2, MPI_DOUBLE, low, 0, from_high, N + 2, MPI_DOUBLE, high, 0, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][N + 1] = from_high[i];
    for (int i = 1; i <= N; i++)
        to_high[i] = u[i][N + 1];
    MPI_Sendrecv(to_high, N + 2, MPI_DOUBLE, high, 1, from_low, N + 2, MPI_DOUBLE, low, 1, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][0] = from_low[i];
}

/* One buffer for both directions: it is filled again once the first message has left. */
static void one_buffer(int low, int high, MPI_Comm comm)
{
    for (int i = 1; i <= N; i++)
        to_low[i] = u[i][1];
    MPI_Sendrecv(to_low, N + 2, MPI_DOUBLE, low, 0, from_high, N + 2, MPI_DOUBLE, high, 0, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][N + 1] = from_high[i];
    for (int i = 1; i <= N; i++)
        to_low[i] = u[i][N];
    MPI_Sendrecv(to_low, N + 2, MPI_DOUBLE, high, 1, from_high, N + 2, MPI_DOUBLE, low, 1, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        u[i][0] = from_high[i];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int low = (rank + size - 1) % size, high = (rank + 1) % size;
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++)
            u[i][j] = i + rank * j;
    exchange(low, high, MPI_COMM_WORLD);
    printf("%d %.17g %.17g\n", rank, u[1][0], u[N][N + 1]);
    pass_on(low, high, MPI_COMM_WORLD);
    printf("%d %.17g %.17g\n", rank, u[2][0], u[3][N + 1]);
    one_buffer(low, high, MPI_COMM_WORLD);
    printf("%d %.17g %.17g\n", rank, u[4][0], u[5][N + 1]);
    MPI_Finalize();
    return 0;
}
