/* Blocking: for each face pack, MPI_Sendrecv, unpack; then the whole brick. */
#include "halo3d.h"

void step_blocking(const struct brick *b, double *u, double *unew)
{
    for (int d = 0; d < 3; d++) {
        int lower = 2 * d, upper = 2 * d + 1, count = b->face_size[d];
        pack(b, u, lower, b->send[lower]);
        MPI_Sendrecv(b->send[lower], count, MPI_DOUBLE, b->peer[lower], lower, b->recv[upper],
                     count, MPI_DOUBLE, b->peer[upper], lower, b->comm, MPI_STATUS_IGNORE);
        unpack(b, u, upper, b->recv[upper]);
        pack(b, u, upper, b->send[upper]);
        MPI_Sendrecv(b->send[upper], count, MPI_DOUBLE, b->peer[upper], upper, b->recv[lower],
                     count, MPI_DOUBLE, b->peer[lower], upper, b->comm, MPI_STATUS_IGNORE);
        unpack(b, u, lower, b->recv[lower]);
    }
    sweep_all(b, u, unew);
}
