/* Ranks 1 and 2 each lock rank 0's part of a window, put a number there and unlock it: exclusively,
 * or shared; then nobody moves anything under locks of another kind. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int type = argc > 1 && !strcmp(argv[1], "shared") ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    double *part, number = rank;
    MPI_Win window;
    MPI_Win_allocate(64 * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part,
                     &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0) {
        MPI_Win_lock(type, 0, 0, window);
        MPI_Put(&number, 1, MPI_DOUBLE, 0, 8 * rank, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, window);
        MPI_Win_unlock(1, window);
        MPI_Win_lock_all(0, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
