/* Neighbours on a grid with edges: the first and the last rank have one of two. */
#include <mpi.h>

enum { EACH = 10, STEPS = 4 };

static double out[2 * EACH], in[2 * EACH];

int main(int argc, char **argv)
{
    int size, open_ended = 0;
    int counts[2] = {EACH, EACH}, places[2] = {0, EACH};
    MPI_Comm line;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open_ended, 0, &line);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 2 * EACH; i++)
            out[i] = step + i;
        MPI_Neighbor_alltoall(out, EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, line);
        MPI_Neighbor_alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE,
                               line);
        MPI_Neighbor_allgather(out, EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, line);
    }
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
