/* The probe's Krylov experiment alone, for the simulator: `krylov SECONDS`, of simulated time. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>

void run_krylov(engine *e);

int main(int argc, char **argv)
{
    engine e = {.quick = 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &e.data);
    MPI_Comm_dup(MPI_COMM_WORLD, &e.control);
    /* Every rank on a node of its own. */
    int *nodes = malloc((size_t)e.ranks * sizeof *nodes);
    for (int r = 0; nodes && r < e.ranks; r++)
        nodes[r] = r;
    e.node_of = nodes;
    e.end_ns = now_ns() + (int64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
    if (e.rank == 0)
        printf("# imbrex-probes 1\n# library SimGrid SMPI\n# ranks %d\n", e.ranks);
    run_krylov(&e);
    if (e.rank == 0)
        printf("# done krylov\n# end\n");
    MPI_Finalize();
    free(nodes);
    return 0;
}
