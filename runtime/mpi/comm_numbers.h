/* Numbers of communicators and windows that are the same on all members, without a message: from
 * the world ranks of the members in their order, and how many with just these members were created
 * before. Creations are collective, so all members count alike. */
#ifndef IMBREX_MPI_COMM_NUMBERS_H
#define IMBREX_MPI_COMM_NUMBERS_H

#include <stdint.h>

#include "base/attributes.h"
#include "mpi/comms.h"

/* The members of a group: world ranks, -1 for a process outside MPI_COMM_WORLD. */
typedef struct ix_members {
    const int *ranks;
    int count;
} ix_members;

/* Give `c`, whose rank, size and peers are known, its number and enter it into the call log.
 * `remote` is `own` unless it is an intercommunicator. `created`: its creation was seen, else it is
 * one that was promised, or one that nobody saw. The caller sees to it that no other thread is
 * here. */
IX_HIDDEN void ix_number_comm(ix_comm *c, ix_members own, ix_members remote, int window,
                              int created);

/* MPI_Comm_idup of `parent` began: the number is given now, to the next one with these members that
 * is met. */
IX_HIDDEN void ix_promise_number(const ix_comm *parent);

#endif
