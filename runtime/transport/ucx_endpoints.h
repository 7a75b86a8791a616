/* The endpoints of UCP that are open, and their workers: a flush of one worker says nothing of
 * another's messages. */
#ifndef IMBREX_TRANSPORT_UCX_ENDPOINTS_H
#define IMBREX_TRANSPORT_UCX_ENDPOINTS_H

#include "core/thread.h"

typedef struct ix_ucx_endpoint {
    const void *endpoint, *worker;
    int watched; /* a flush of ours is under way in it */
} ix_ucx_endpoint;

/* NULL: not known. */
IX_HIDDEN ix_ucx_endpoint *ix_ucx_endpoint_of(const void *endpoint);

/* From now on the library closes endpoints for good: MPI_Finalize. Once it has begun to, whoever
 * makes progress stays until nothing has come for some time. */
IX_HIDDEN void ix_ucx_finalizing(void);
IX_HIDDEN void ix_ucx_stay(void);

#endif
