/* In the style of stencil proxies: all faces are posted and sent, and unpacked in the order in
   which they come, by MPI_Waitany. The field is linear and grows by one in each step. */
#include <mpi.h>
#include <stdio.h>

#define N 16
#define STEPS 4
enum { NORTH, SOUTH, EAST, WEST, FACES };

static double grid[N + 2][N + 2], next[N + 2][N + 2], other[N][N];
static double send_buf[FACES][N], recv_buf[FACES][N];
static MPI_Request msg_reqs[2 * FACES];
static int neighbour[FACES], rank, ranks, across, i0, j0;

static void pack(int face)
{
    for (int i = 0; i < N; i++)
        send_buf[face][i] = face == NORTH   ? grid[1][i + 1]
                            : face == SOUTH ? grid[N][i + 1]
                            : face == EAST  ? grid[i + 1][N]
                                            : grid[i + 1][1];
}

static void unpack(int face)
{
    for (int i = 0; i < N; i++) {
        if (face == NORTH)
            grid[0][i + 1] = recv_buf[face][i];
        else if (face == SOUTH)
            grid[N + 1][i + 1] = recv_buf[face][i];
        else if (face == EAST)
            grid[i + 1][N + 1] = recv_buf[face][i];
        else
            grid[i + 1][0] = recv_buf[face][i];
    }
}

static void exchange(void)
{
    static const int opposite[FACES] = {SOUTH, NORTH, WEST, EAST};
    int n = 0, which;
    for (int face = 0; face < FACES; face++)
        if (neighbour[face] >= 0)
            MPI_Irecv(recv_buf[face], N, MPI_DOUBLE, neighbour[face], opposite[face],
                      MPI_COMM_WORLD, &msg_reqs[face]);
        else
            msg_reqs[face] = MPI_REQUEST_NULL;
    for (int face = 0; face < FACES; face++) {
        msg_reqs[FACES + face] = MPI_REQUEST_NULL;
        if (neighbour[face] >= 0) {
            pack(face);
            MPI_Isend(send_buf[face], N, MPI_DOUBLE, neighbour[face], face, MPI_COMM_WORLD,
                      &msg_reqs[FACES + face]);
            n++;
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        MPI_Waitany(2 * FACES, msg_reqs, &which, MPI_STATUS_IGNORE);
        if (which < FACES)
            unpack(which);
    }
}

int main(int argc, char **argv)
{
    int wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    across = ranks >= 4 ? 2 : 1;
    i0 = rank / across * N;
    j0 = rank % across * N;
    neighbour[NORTH] = rank - across >= 0 ? rank - across : -1;
    neighbour[SOUTH] = rank + across < ranks ? rank + across : -1;
    neighbour[EAST] = rank % across < across - 1 ? rank + 1 : -1;
    neighbour[WEST] = rank % across > 0 ? rank - 1 : -1;
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++)
            grid[i][j] = i + i0 + 2 * (j + j0);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N + 2; i++) {
            grid[0][i] = step + i0 + 2 * (i + j0);
            grid[N + 1][i] = step + N + 1 + i0 + 2 * (i + j0);
            grid[i][0] = step + i + i0 + 2 * j0;
            grid[i][N + 1] = step + i + i0 + 2 * (N + 1 + j0);
        }
        exchange();
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                other[i][j] = 0.5 * other[i][j] + i;
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                next[i][j] =
                    0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) + 1;
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                grid[i][j] = next[i][j];
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            wrong += grid[i][j] != STEPS + i + i0 + 2 * (j + j0);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("stencil: wrong values %d, %g\n", all, other[N - 1][0]);
    MPI_Finalize();
    return 0;
}
