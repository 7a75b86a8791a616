#ifndef IMBREX_DIRECT
#include "transport/ucx_endpoints.h"

#include <pthread.h>

#include "transport/ucx_abi.h"
#include "transport/ucx_real.h"

typedef int8_t (*create_function)(void *worker, const void *parameters, void **endpoint);
typedef void (*destroy_function)(void *endpoint);
typedef void *(*disconnect_function)(void *endpoint);
typedef void *(*close_function)(void *endpoint, unsigned mode);
typedef void *(*close_as_function)(void *endpoint, const void *parameters);

enum { ENDPOINTS = 1 << 13 };

static const char closed_mark;
#define CLOSED ((const void *)&closed_mark) /* others may lie behind it */

/* All that is kept between calls. */
static struct {
    ix_ucx_endpoint endpoints[ENDPOINTS];
    int finalizing;
    pthread_mutex_t lock; /* of what changes them */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Its place, or else the first that is free for it; NULL: neither. */
static ix_ucx_endpoint *place_of(const void *endpoint)
{
    ix_ucx_endpoint *usable = NULL;
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)endpoint * 0x9e3779b97f4a7c15u) >> 51);
    for (uint32_t n = 0; n < ENDPOINTS; n++, i = (i + 1) % ENDPOINTS) {
        const void *here = state.endpoints[i].endpoint;
        if (here == endpoint)
            return &state.endpoints[i];
        if ((!here || here == CLOSED) && !usable)
            usable = &state.endpoints[i];
        if (!here)
            break;
    }
    return usable;
}

ix_ucx_endpoint *ix_ucx_endpoint_of(const void *endpoint)
{
    ix_ucx_endpoint *e = place_of(endpoint);
    return e && e->endpoint == endpoint ? e : NULL;
}

static void opened(const void *endpoint, const void *worker)
{
    pthread_mutex_lock(&state.lock);
    ix_ucx_endpoint *e = place_of(endpoint);
    if (e) {
        e->worker = worker;
        e->watched = 0; /* one that was closed here may have been */
        e->endpoint = endpoint;
    }
    pthread_mutex_unlock(&state.lock);
}

static void closed(const void *endpoint)
{
    pthread_mutex_lock(&state.lock);
    ix_ucx_endpoint *e = ix_ucx_endpoint_of(endpoint);
    if (e)
        e->endpoint = CLOSED;
    pthread_mutex_unlock(&state.lock);
    if (state.finalizing)
        ix_ucx_stay();
}

void ix_ucx_finalizing(void)
{
    state.finalizing = 1;
}

/* The functions of UCP as the library calls them. */

IX_EXPORT int8_t ucp_ep_create(void *worker, const void *parameters, void **endpoint)
{
    IX_REAL(create_function, "ucp_ep_create")
    int8_t status = real(worker, parameters, endpoint);
    if (status == IX_UCS_OK)
        opened(*endpoint, worker);
    return status;
}

IX_EXPORT void ucp_ep_destroy(void *endpoint)
{
    IX_REAL(destroy_function, "ucp_ep_destroy")
    closed(endpoint);
    real(endpoint);
}

IX_EXPORT void *ucp_disconnect_nb(void *endpoint)
{
    IX_REAL(disconnect_function, "ucp_disconnect_nb")
    closed(endpoint);
    return real(endpoint);
}

IX_EXPORT void *ucp_ep_close_nb(void *endpoint, unsigned mode)
{
    IX_REAL(close_function, "ucp_ep_close_nb")
    closed(endpoint);
    return real(endpoint, mode);
}

IX_EXPORT void *ucp_ep_close_nbx(void *endpoint, const void *parameters)
{
    IX_REAL(close_as_function, "ucp_ep_close_nbx")
    closed(endpoint);
    return real(endpoint, parameters);
}

#endif
