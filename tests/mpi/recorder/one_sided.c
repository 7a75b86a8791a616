/* One-sided transfers beside messages with tag 0 on the same ranks, and messages without data. */
#include <mpi.h>

enum { LONG = 400, SHORT = 10, STEPS = 6 };

static double data[LONG], got[SHORT], reply;

int main(int argc, char **argv)
{
    int rank;
    double *memory;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(LONG * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    for (int step = 0; step < STEPS; step++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
        if (rank == 0)
            MPI_Get(got, SHORT, MPI_DOUBLE, 1, 0, SHORT, MPI_DOUBLE, window);
        else
            MPI_Put(got, SHORT, MPI_DOUBLE, 0, SHORT, SHORT, MPI_DOUBLE, window);
        MPI_Win_unlock(1 - rank, window);
        if (rank == 0) {
            for (int i = 0; i < LONG; i++)
                data[i] = step + i;
            /* Every other message is empty: its receiver takes any size. */
            MPI_Send(data, step % 2 ? LONG : 0, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&reply, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, LONG, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < LONG; i++)
                reply += data[i];
            MPI_Send(&reply, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
