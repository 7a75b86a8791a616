/* Overlapped by hand: what needs no ghost is computed between the start and the wait. */
#include "halo3d.h"

void step_overlapped(const struct brick *b, double *u, double *unew)
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

    sweep_inside(b, u, unew);

    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    for (int face = 0; face < 6; face++)
        unpack(b, u, face, b->recv[face]);
    sweep_rim(b, u, unew);
}
