/* Rank 0 makes two partitions ready, 50 ms apart; rank 1 looks for both, one after the other, until
 * they are there. */
#include <mpi.h>
#include <time.h>

enum { PARTS = 2, NUMBERS = 4096 };

static void nap(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

int main(int argc, char **argv)
{
    static double data[PARTS][NUMBERS];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(data, PARTS, NUMBERS, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    else
        MPI_Precv_init(data, PARTS, NUMBERS, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    for (int part = 0; part < PARTS; part++) {
        if (rank == 0) {
            nap(50);
            MPI_Pready(part, request);
            continue;
        }
        int there = 0;
        while (!there)
            MPI_Parrived(request, part, &there);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
