/* Every rank computes for a third of a second of its own processor time, or sleeps as long. */
#include <mpi.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct timespec now, begun, third = {0, 333333333};
    MPI_Init(&argc, &argv);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    if (argc > 1 && strcmp(argv[1], "computes") == 0)
        do
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        while (1e9 * (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) <
               (double)third.tv_nsec);
    else
        nanosleep(&third, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
