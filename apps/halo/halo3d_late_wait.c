/* Nonblocking: each face is sent as soon as it is packed, but all are waited for before any point
 * is computed. What is hidden is hidden behind the packing of the other faces. */
#include "halo3d.h"

void step_late_wait(const struct brick *b, double *u, double *unew)
{
    MPI_Request requests[12];

    for (int face = 0; face < 6; face++)
        MPI_Irecv(b->recv[face], b->face_size[face / 2], MPI_DOUBLE, b->peer[face], face ^ 1,
                  b->comm, &requests[face]);
    for (int face = 0; face < 6; face++) {
        pack(b, u, face, b->send[face]);
        MPI_Isend(b->send[face], b->face_size[face / 2], MPI_DOUBLE, b->peer[face], face, b->comm,
                  &requests[6 + face]);
    }
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    for (int face = 0; face < 6; face++)
        unpack(b, u, face, b->recv[face]);

    sweep_all(b, u, unew);
}
