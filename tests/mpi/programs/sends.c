/* What a profiling tool puts between a program and MPI: linked into a program or as a library. */
#include <mpi.h>

static long sends;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, type, peer, tag, comm);
}
