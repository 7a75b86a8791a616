/* The process topology of a communicator. */
#include <string.h>

#include "mpi/comms.h"

/* Bits of the places of a grid that lie beyond its edge: in each dimension before, then behind. */
static uint64_t missing_at_the_edge(MPI_Comm grid, int dimensions)
{
    uint64_t missing = 0;
    for (int i = 0; i < dimensions && i < 32; i++) {
        int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
        PMPI_Cart_shift(grid, i, 1, &before, &behind);
        missing |= (uint64_t)(before == MPI_PROC_NULL) << 2 * i;
        missing |= (uint64_t)(behind == MPI_PROC_NULL) << (2 * i + 1);
    }
    return missing;
}

/* What neighbourhood collectives talk to. */
void ix_ask_topology(ix_comm *c)
{
    MPI_Comm comm;
    memset(&comm, 0, sizeof comm);
    memcpy(&comm, &c->handle, sizeof comm < sizeof c->handle ? sizeof comm : sizeof c->handle);
    int topology = MPI_UNDEFINED, in = 0, out = 0, weighted = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &in);
        c->missing = missing_at_the_edge(comm, in);
        in = out = 2 * in;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, c->rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    c->destination_places = out;
    c->source_places = in;
}
