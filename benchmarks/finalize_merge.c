/* Calls from 64 sites, then MPI_Finalize: prints how long that took, in seconds, and leaves.
 *   finalize_merge [TIMES]     each rank to itself once; with TIMES that often around a ring */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CALL                                                                                       \
    MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD,                \
                 MPI_STATUS_IGNORE);
#define CALLS_4 CALL CALL CALL CALL
#define CALLS_16 CALLS_4 CALLS_4 CALLS_4 CALLS_4

int main(int argc, char **argv)
{
    int rank, ranks, out = 1, in = 0, times = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int to = times ? (rank + 1) % ranks : rank,
              from = times ? (rank + ranks - 1) % ranks : rank;
    for (int i = 0; i == 0 || i < times; i++) {
        CALLS_16 CALLS_16 CALLS_16 CALLS_16
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = now_s();
    MPI_Finalize();
    if (rank == 0)
        printf("%.6f\n", now_s() - begin_s);
    return 0;
}
