#include "mpi/request_handles.h"

#include "core/engine.h"
#include "mpi/types.h"

#define TRIES 4

/* Own statuses: some libraries' MPI_STATUSES_IGNORE is an address that compilers know to be no
 * array. */
static void finish(MPI_Request *requests, int count)
{
    MPI_Status statuses[3 * TRIES];
    PMPI_Waitall(count, requests, statuses);
}

/* Handles that stand twice among requests that are open at the same time. */
static void compare(const MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (requests[i] == requests[j] && requests[i] != MPI_REQUEST_NULL) {
                ix_shared_handle(ix_handle(requests[i]));
                break;
            }
}

static void eager_sends(MPI_Comm self, int bytes)
{
    static char out[64], in[TRIES][64];
    MPI_Request sends[TRIES], receives[TRIES];
    for (int i = 0; i < TRIES; i++)
        PMPI_Isend(out, bytes, MPI_BYTE, 0, i, self, &sends[i]);
    compare(sends, TRIES);
    for (int i = 0; i < TRIES; i++)
        PMPI_Irecv(in[i], bytes, MPI_BYTE, 0, i, self, &receives[i]);
    finish(sends, TRIES);
    finish(receives, TRIES);
}

static void to_no_process(MPI_Comm self)
{
    char byte = 0;
    MPI_Request requests[2 * TRIES];
    for (int i = 0; i < TRIES; i++) {
        PMPI_Isend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, self, &requests[2 * i]);
        PMPI_Irecv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, self, &requests[2 * i + 1]);
    }
    compare(requests, 2 * TRIES);
    finish(requests, 2 * TRIES);
}

static void collectives(MPI_Comm self)
{
#if MPI_VERSION >= 3
    int in[TRIES] = {0}, out[TRIES];
    MPI_Request requests[3 * TRIES];
    for (int i = 0; i < TRIES; i++) {
        PMPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, self, &requests[3 * i]);
        PMPI_Ibarrier(self, &requests[3 * i + 1]);
        PMPI_Ibcast(&in[i], 1, MPI_INT, 0, self, &requests[3 * i + 2]);
    }
    compare(requests, 3 * TRIES);
    finish(requests, 3 * TRIES);
#else
    (void)self;
#endif
}

int ix_pair_status_works;

/* Whether the status of an MPI_Isendrecv tells the size of its receive (MPICH 4.0: no). */
static void pair_status(MPI_Comm self)
{
#if MPI_VERSION >= 4
    char out[24] = {0}, in[24];
    MPI_Request request;
    MPI_Status status;
    PMPI_Isendrecv(out, 7, MPI_BYTE, 0, 1, in, 24, MPI_BYTE, 0, 1, self, &request);
    PMPI_Wait(&request, &status);
    ix_pair_status_works = ix_status_bytes(&status) == 7;
    if (!ix_pair_status_works)
        return;
    PMPI_Isendrecv(out, 5, MPI_BYTE, 0, 1, in, 24, MPI_BYTE, 0, 1, self, &request);
    PMPI_Wait(&request, &status);
    ix_pair_status_works = ix_status_bytes(&status) == 5;
#else
    (void)self;
#endif
}

void ix_find_shared_handles(MPI_Comm self)
{
    pair_status(self);
    eager_sends(self, 0);
    eager_sends(self, 8);
    to_no_process(self);
    collectives(self);
}
