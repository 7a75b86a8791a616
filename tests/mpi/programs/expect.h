/* A program says what the runtime must have counted, each rank in a file of its own in the run
 * directory (standard output of ranks gets mixed up); where nothing is measured, nowhere. */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank_, size_;

static FILE *expect_;

#define EXPECT(operation, calls, transfers, bytes)                                                 \
    fprintf(expect_, "expect %d %d %s %d %d %lld\n", rank_, __LINE__, operation, (int)(calls),     \
            (int)(transfers), (long long)(bytes))

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    char name[4096];
    const char *folder = getenv("IMBREX_DIR");
    snprintf(name, sizeof name, "%s/expect.%d", folder ? folder : "", rank_);
    expect_ = fopen(folder ? name : "/dev/null", "w");
}

static void check(int good, int line)
{
    if (!good) {
        printf("line %d: wrong result on rank %d\n", line, rank_);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}
#define CHECK(condition) check(condition, __LINE__)

#endif
