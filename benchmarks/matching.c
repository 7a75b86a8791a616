/* matching SECONDS RATE: each rank sends RATE messages a second to its neighbour for so long. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    char out[64] = {0}, in[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double seconds = argc > 1 ? atof(argv[1]) : 5, rate = argc > 2 ? atof(argv[2]) : 1e4;
    double begin = MPI_Wtime();
    /* In bursts, between which the others get the core. */
    for (long burst = 0, bursts = (long)(seconds * 100); burst < bursts; burst++) {
        for (long i = 0; i < (long)(rate / 100); i++)
            MPI_Sendrecv(out, 64, MPI_BYTE, (rank + 1) % ranks, 1, in, 64, MPI_BYTE,
                         (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double rest = begin + (double)(burst + 1) / 100 - MPI_Wtime();
        struct timespec pause = {0, (long)(rest * 1e9)};
        if (rest > 0)
            nanosleep(&pause, NULL);
    }
    MPI_Finalize();
    return 0;
}
