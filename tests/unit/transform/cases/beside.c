#include <mpi.h>
#include <stdio.h>

#define N 200

static double u[N + 2][N + 2], column[2][N + 2], ghost[2][N + 2];

/* All that is under way beside one message is another one: no computation is in reach. */
static double rows(int below, int above)
{
    MPI_Sendrecv(u[1], N + 2, MPI_DOUBLE, below, 0, u[N + 1], N + 2, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[N], N + 2, MPI_DOUBLE, above, 0, u[0], N + 2, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return u[0][1] + u[N + 1][1];
}

/* What has been received goes on to the next rank: one after the other. */
static double forward(int below, int above)
{
    MPI_Sendrecv(u[1], N + 2, MPI_DOUBLE, below, 1, u[0], N + 2, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[0], N + 2, MPI_DOUBLE, below, 2, u[N + 1], N + 2, MPI_DOUBLE, above, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return u[N + 1][1];
}

/* The columns are sent with their corners, which are in the rows that come in first. */
static double corners(int below, int above, int left, int right)
{
    MPI_Sendrecv(u[1], N + 2, MPI_DOUBLE, below, 3, u[N + 1], N + 2, MPI_DOUBLE, above, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i <= N + 1; i++)
        column[0][i] = u[i][1];
    MPI_Sendrecv(column[0], N + 2, MPI_DOUBLE, left, 4, ghost[0], N + 2, MPI_DOUBLE, right, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return ghost[0][0];
}

/* One way for both: the second message goes behind the first. */
static double one_peer(int peer)
{
    MPI_Sendrecv(u[1], N + 2, MPI_DOUBLE, peer, 5, u[0], N + 2, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[N], N + 2, MPI_DOUBLE, peer, 6, u[N + 1], N + 2, MPI_DOUBLE, peer, 6,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return u[0][1] + u[N + 1][1];
}

/* A number each: the calls would cost as much as the messages. */
static double numbers(int below, int above)
{
    double mine = u[1][1], one = 0.0, other = 0.0;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, below, 7, &one, 1, MPI_DOUBLE, above, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, above, 8, &other, 1, MPI_DOUBLE, below, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return one + other;
}

/* Two fillings of one buffer: the first must have left before the second is made. */
static double fillings(int below, int above)
{
    double last = 0.0;
    MPI_Sendrecv(u[1], N + 2, MPI_DOUBLE, below, 9, u[0], N + 2, MPI_DOUBLE, above, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    last += u[0][2];
    MPI_Sendrecv(u[N], N + 2, MPI_DOUBLE, above, 9, u[0], N + 2, MPI_DOUBLE, below, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return last + u[0][1];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int below = (rank + size - 1) % size, above = (rank + 1) % size;
    u[1][1] = rank;
    double sum = rows(below, above);
    sum += forward(below, above);
    sum += corners(below, above, below, above);
    sum += one_peer(size - 1 - rank);
    sum += numbers(below, above);
    sum += fillings(below, above);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
