/* The root reads its input for 100 ms before it broadcasts; the others have less to do. */
#include <mpi.h>

#include "pause.h"

enum { COUNT = 20000 };

static double field[COUNT];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++) {
        pause_ms(rank == 0 ? 120 : 20);
        MPI_Bcast(field, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
