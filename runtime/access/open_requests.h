/* What is in flight: requests, and one-sided transfers on windows, that were begun and not
 * completed. */
#ifndef IMBREX_ACCESS_OPEN_REQUESTS_H
#define IMBREX_ACCESS_OPEN_REQUESTS_H

#include "access/annotate.h"
#include "access/guard.h"
#include "access/messages.h"

enum { IXA_BUFFERS = 3 }; /* of one call */

typedef struct ixa_open {
    struct ixa_open *next;
    uint64_t handle;
    const void *where; /* the user's variable; NULL of a window */
    int target;        /* of a window */
    ixa_receive_t receive[IXA_BUFFERS];
    ixa_held *held[IXA_BUFFERS];
    ixa_span span[IXA_BUFFERS]; /* of receives, where regions are marked */
} ixa_open;

/* A new one, empty; NULL without memory. */
IX_HIDDEN ixa_open *ixa_open_new(uint64_t handle, const void *where, int target);
/* Remove and return what a completed request stood for, in a list; NULL if it is not known. Handles
 * repeat: the newest at `where` is meant; if none is, all of them must be taken for complete. */
IX_HIDDEN ixa_open *ixa_open_take(uint64_t handle, const void *where);
/* The only one of this handle; NULL if there is none or several. It stays. */
IX_HIDDEN ixa_open *ixa_open_find(uint64_t handle);
/* Whether there is any. */
IX_HIDDEN int ixa_open_is(uint64_t handle);
IX_HIDDEN ixa_open *ixa_open_take_window(uint64_t handle, int target);
/* Remove and return all. */
IX_HIDDEN ixa_open *ixa_open_take_all(void);

/* Persistent requests. */
typedef struct ixa_plan {
    struct ixa_plan *next;
    uint64_t handle;
    int buffers;
    ix_buffer buffer[IXA_BUFFERS];
} ixa_plan;

IX_HIDDEN void ixa_plan_add(uint64_t handle, const ix_buffer *buffers, int count);
IX_HIDDEN const ixa_plan *ixa_plan_of(uint64_t handle);
IX_HIDDEN void ixa_plan_forget(uint64_t handle);

#endif
