/* Ranks communicate, then end in the way that the argument names. */
#include <signal.h>
#include <unistd.h>

#include "expect.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    double value = rank_, sum;
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, 1 - rank_, 0, &sum, 1, MPI_DOUBLE, 1 - rank_, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    const char *how = argv[1];
    if (rank_ == 1) {
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 5);
        if (!strcmp(how, "fatal"))
            MPI_Send(&value, -1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "exit"))
            exit(0);
        if (!strcmp(how, "_exit"))
            _exit(0);
        if (!strcmp(how, "segv"))
            raise(SIGSEGV);
        if (!strcmp(how, "kill"))
            raise(SIGKILL);
    } else {
        if (!strcmp(how, "exit"))
            exit(0);
        if (!strcmp(how, "_exit"))
            _exit(0);
        MPI_Recv(&value, 1, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
