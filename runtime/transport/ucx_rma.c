/* One-sided messages of UCP: ucp_put_nbx and ucp_get_nbx, which the older names call, and the
 * flushes behind which they are over. */
#ifndef IMBREX_DIRECT
#include <pthread.h>
#include <string.h>

#include "../mpi/resolve.h"
#include "onesided.h"
#include "ucx_abi.h"

#define IX_EXPORT __attribute__((visibility("default")))

typedef void *(*put_function)(void *ep, const void *buffer, size_t count, uint64_t remote,
                              void *rkey, const ix_ucp_param *param);
typedef void *(*get_function)(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                              const ix_ucp_param *param);
typedef void *(*flush_function)(void *object, const ix_ucp_param *param);
typedef int8_t (*flush_wait_function)(void *object);
typedef int8_t (*connect_function)(void *worker, const void *parameters, void **endpoint);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the owners */

/* ---- Whose endpoint: a flush of one worker says nothing of another's messages */

enum { ENDPOINTS = 1 << 13 };

static struct {
    const void *endpoint, *worker;
} owners[ENDPOINTS];

static uint32_t owner_slot(const void *endpoint)
{
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)endpoint * 0x9e3779b97f4a7c15u) >> 51);
    for (uint32_t n = 0; n < ENDPOINTS; n++, i = (i + 1) % ENDPOINTS)
        if (!owners[i].endpoint || owners[i].endpoint == endpoint)
            return i;
    return ENDPOINTS;
}

static void remember_owner(const void *endpoint, const void *worker)
{
    pthread_mutex_lock(&lock);
    uint32_t i = owner_slot(endpoint);
    if (i < ENDPOINTS) {
        owners[i].worker = worker;
        owners[i].endpoint = endpoint;
    }
    pthread_mutex_unlock(&lock);
}

/* NULL: not known. */
static const void *owner_of(const void *endpoint)
{
    uint32_t i = owner_slot(endpoint);
    return i < ENDPOINTS ? owners[i].worker : NULL;
}

/* ---- The functions of UCP */

static __thread int inside; /* one of these calls another */

static int64_t bytes_of(size_t count, const ix_ucp_param *param)
{
    if (!(param->op_attr_mask & IX_UCP_DATATYPE))
        return (int64_t)count;
    if ((param->datatype & IX_UCP_KINDS) != IX_UCP_CONTIG)
        return -1;
    return (int64_t)(count * (param->datatype >> IX_UCP_SHIFT));
}

#define REAL(type, name)                                                                           \
    static type real;                                                                              \
    if (IX_UNLIKELY(!real))                                                                        \
        real = (type)ix_next_symbol(name);

static int is_error(const void *result)
{
    return (uintptr_t)result >= (uintptr_t)(intptr_t)IX_UCS_LAST_ERROR;
}

/* One call into the library, unless it is its own. */
#define AROUND(call)                                                                               \
    ix_thread *t = inside ? NULL : ix_onesided_poster();                                           \
    int64_t now = t ? ix_now() : 0;                                                                \
    inside++;                                                                                      \
    void *result = call;                                                                           \
    inside--;                                                                                      \
    if (t && !is_error(result))                                                                    \
        ix_onesided_posted(t, ep, owner_of(ep), bytes_of(count, param), now);                      \
    return result

IX_EXPORT void *ucp_put_nbx(void *ep, const void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    REAL(put_function, "ucp_put_nbx")
    AROUND(real(ep, buffer, count, remote, rkey, param));
}

IX_EXPORT void *ucp_get_nbx(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    REAL(get_function, "ucp_get_nbx")
    AROUND(real(ep, buffer, count, remote, rkey, param));
}

/* A flush under way: what its callback needs. */
enum { FLUSHES = 64 };

typedef struct flush {
    _Atomic int taken;
    ix_ucp_sent callback;
    void *user_data;
    const void *object;
    uint64_t last;
} flush;

static flush flushes[FLUSHES];

static void flushed(void *request, int8_t status, void *data)
{
    flush *f = data;
    ix_ucp_sent callback = f->callback;
    void *user_data = f->user_data;
    if (status == IX_UCS_OK)
        ix_onesided_flushed(f->object, f->last);
    f->taken = 0;
    if (callback)
        callback(request, status, user_data);
}

static flush *take_flush(void)
{
    for (int i = 0; i < FLUSHES; i++) {
        int nobody = 0;
        if (__atomic_compare_exchange_n((int *)&flushes[i].taken, &nobody, 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return &flushes[i];
    }
    return NULL;
}

static void *flush_as(flush_function real, void *object, const ix_ucp_param *param)
{
    int known = !(param->op_attr_mask & IX_UCP_UNKNOWN_FIELDS);
    uint64_t last = known ? ix_onesided_last() : 0;
    flush *f = last ? take_flush() : NULL;
    if (!f)
        return real(object, param);
    ix_ucp_param copy;
    if (param->op_attr_mask & IX_UCP_MEMH)
        copy = *param;
    else
        memcpy(&copy, param, offsetof(ix_ucp_param, memh));
    f->callback = copy.op_attr_mask & IX_UCP_CALLBACK ? copy.cb.send : NULL;
    f->user_data = copy.op_attr_mask & IX_UCP_USER_DATA ? copy.user_data : NULL;
    f->object = object;
    f->last = last;
    copy.cb.send = flushed;
    copy.user_data = f;
    copy.op_attr_mask |= IX_UCP_CALLBACK | IX_UCP_USER_DATA;
    void *result = real(object, &copy);
    if (!result || is_error(result)) {
        if (!result)
            ix_onesided_flushed(object, last);
        f->taken = 0; /* no callback follows */
    }
    return result;
}

static int8_t flush_now(flush_wait_function real, void *object)
{
    uint64_t last = ix_onesided_last();
    int8_t status = real(object);
    if (status == IX_UCS_OK)
        ix_onesided_flushed(object, last);
    return status;
}

IX_EXPORT int8_t ucp_ep_create(void *worker, const void *parameters, void **endpoint)
{
    REAL(connect_function, "ucp_ep_create")
    int8_t status = real(worker, parameters, endpoint);
    if (status == IX_UCS_OK)
        remember_owner(*endpoint, worker);
    return status;
}

IX_EXPORT void *ucp_worker_flush_nbx(void *worker, const ix_ucp_param *param)
{
    REAL(flush_function, "ucp_worker_flush_nbx")
    return flush_as(real, worker, param);
}

IX_EXPORT void *ucp_ep_flush_nbx(void *ep, const ix_ucp_param *param)
{
    REAL(flush_function, "ucp_ep_flush_nbx")
    return flush_as(real, ep, param);
}

IX_EXPORT int8_t ucp_worker_flush(void *worker)
{
    REAL(flush_wait_function, "ucp_worker_flush")
    return flush_now(real, worker);
}

IX_EXPORT int8_t ucp_ep_flush(void *ep)
{
    REAL(flush_wait_function, "ucp_ep_flush")
    return flush_now(real, ep);
}

#endif
