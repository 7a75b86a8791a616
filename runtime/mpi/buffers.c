#include "mpi/buffers.h"

void ix_add_one(ix_watched_call *call, int how, const void *address, int64_t count,
                MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    ix_buffers->add(call, &(ix_buffer){.address = address,
                                       .type = type,
                                       .count = count,
                                       .is_receive = (how & IX_BUFFER_RECEIVED) != 0,
                                       .collective = (how & IX_BUFFER_COLLECTIVE) != 0,
                                       .in_place = (how & IX_BUFFER_IN_PLACE) != 0,
                                       .one_sided = (how & IX_BUFFER_ONE_SIDED) != 0,
                                       .peer = peer,
                                       .tag = tag,
                                       .comm = comm});
}

const void *ix_item(const void *buffer, int64_t index, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    return (const char *)buffer + index * (int64_t)extent;
}
