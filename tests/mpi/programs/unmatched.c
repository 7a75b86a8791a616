/* unmatched CASE: what is seldom matched across ranks. Ten times rank 0 comes 10 ms after rank 1,
 * which waits for it: in a partitioned receive, or by MPI_Parrived, a broadcast or a receive
 * between two groups; and in a fence, whose put is not matched. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMES = 10, BYTES = 1 << 12 };

static char out[BYTES], in[BYTES];
static int rank;

static void late(void)
{
    struct timespec t = {0, 10000000};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        nanosleep(&t, NULL);
}

static void onesided(void)
{
    MPI_Win win;
    MPI_Win_create(in, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < TIMES; i++) {
        late();
        MPI_Put(out, BYTES, MPI_BYTE, 1 - rank, 0, BYTES, MPI_BYTE, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
}

static void groups(int message)
{
    MPI_Comm alone, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - rank, 7, &both);
    for (int i = 0; i < TIMES; i++) {
        late();
        if (!message)
            MPI_Bcast(rank == 0 ? out : in, BYTES, MPI_BYTE, rank == 0 ? MPI_ROOT : 0, both);
        else if (rank == 0)
            MPI_Send(out, BYTES, MPI_BYTE, 0, 1, both);
        else
            MPI_Recv(in, BYTES, MPI_BYTE, 0, 1, both, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&alone);
}

static void partitioned(int polls)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    int arrived;
    if (rank == 0)
        MPI_Psend_init(out, 1, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(in, 1, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < TIMES; i++) {
        MPI_Start(&request);
        late();
        if (rank == 0)
            MPI_Pready(0, request);
        for (arrived = rank == 0 || !polls; !arrived;)
            MPI_Parrived(request, 0, &arrived);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#else
    (void)polls;
    printf("no partitioned communication\n");
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "onesided") == 0)
        onesided();
    else if (strcmp(argv[1], "partitioned") == 0 || strcmp(argv[1], "arrived") == 0)
        partitioned(strcmp(argv[1], "arrived") == 0);
    else
        groups(strcmp(argv[1], "message") == 0);
    MPI_Finalize();
    return 0;
}
