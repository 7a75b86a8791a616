/* A plugin of plugins.c. */
#include <mpi.h>

void work(int times)
{
    static char data[1000];
    for (int i = 0; i < times; i++)
        MPI_Bcast(data, sizeof data, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
