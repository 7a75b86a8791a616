/* What the C and the Fortran wrappers share. */
#ifndef IMBREX_ACCESS_CALLS_H
#define IMBREX_ACCESS_CALLS_H

#include "messages.h"
#include "times.h"

#include <mpi.h>

#define IXA_SITE __builtin_return_address(0)

/* MPI is there; its end. Both may come twice (Fortran's wrapper calls C's). */
void ixa_job_start(void);
void ixa_job_end(void);

/* Open receives by request. Handles that repeat: first in, first out. */
void ixa_remember(MPI_Request request, ixa_receive_t receive);
/* The receive that a completed request was; message NULL if it was none. A persistent request
 * stays known. */
ixa_receive_t ixa_completed(MPI_Request request);
void ixa_forget(MPI_Request request);

/* Send_init and Recv_init, and the Start that carries them out. */
typedef struct {
    MPI_Request request;
    void *buffer;
    int is_send, count, peer, tag;
    MPI_Datatype type;
    MPI_Comm comm;
} ixa_persistent_t;
void ixa_remember_persistent(ixa_persistent_t what);
void ixa_started(const void *site, MPI_Request request);

#endif
