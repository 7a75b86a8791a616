/* One tag on two communicators, taken in the other order, and collectives of other processes than
 * all. */
#include <mpi.h>

enum { LONG = 400, SHORT = 10 };

static double data[LONG], other[SHORT];

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int step = 0; step < 4; step++) {
        double mine = step, sum;
        if (rank == 0) {
            for (int i = 0; i < LONG; i++)
                data[i] = step + i;
            other[0] = step;
            MPI_Send(data, LONG, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
            MPI_Send(other, SHORT, MPI_DOUBLE, 1, 5, copy);
        } else {
            MPI_Recv(other, SHORT, MPI_DOUBLE, 0, 5, copy, MPI_STATUS_IGNORE);
            MPI_Recv(data, LONG, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Barrier(copy);
    }
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
