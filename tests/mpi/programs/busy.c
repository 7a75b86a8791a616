// Ranks that compute for a second each and meet in between.
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 10; step++) {
        const double end = MPI_Wtime() + 0.1;
        while (MPI_Wtime() < end) {
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
