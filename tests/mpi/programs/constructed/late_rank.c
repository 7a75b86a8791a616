/* Rank 1 has 100 ms more work in each step than the others, which wait for it in MPI_Allreduce. */
#include <mpi.h>

#include "pause.h"

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++) {
        pause_ms(rank == 1 ? 120 : 20);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum > 0 ? 0 : 1;
}
