/* One-sided messages of UCP: ucp_put_nbx and ucp_get_nbx, which the older names call, and the
 * flushes behind which they are over. */
#ifndef IMBREX_DIRECT
#include <string.h>
#include <time.h>

#include "transport/onesided.h"
#include "transport/ucx_abi.h"
#include "transport/ucx_endpoints.h"
#include "transport/ucx_real.h"

typedef void *(*put_function)(void *ep, const void *buffer, size_t count, uint64_t remote,
                              void *rkey, const ix_ucp_param *param);
typedef void *(*get_function)(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                              const ix_ucp_param *param);
typedef void *(*flush_function)(void *object, const ix_ucp_param *param);
typedef int8_t (*flush_wait_function)(void *object);
typedef unsigned (*progress_function)(void *worker);

/* The functions of UCP as the library calls them. */

static __thread int inside; /* one of these calls another */

static int64_t bytes_of(size_t count, const ix_ucp_param *param)
{
    if (!(param->op_attr_mask & IX_UCP_DATATYPE))
        return (int64_t)count;
    if ((param->datatype & IX_UCP_KINDS) != IX_UCP_CONTIG)
        return -1;
    return (int64_t)(count * (param->datatype >> IX_UCP_SHIFT));
}

/* What the callbacks of flushes need stands here. */

enum { FLUSHES = 64 };

enum { FREE, TAKEN, AGAIN };

typedef struct flush {
    _Atomic int taken; /* FREE; TAKEN; AGAIN: ours is complete, and is to be followed by another */
    ix_ucp_sent callback;
    void *user_data;
    const void *object;
    uint64_t last;
    ix_ucx_endpoint *watched;
} flush;

static unsigned progress_slowly(void *worker);

/* All that is kept between calls. `progress` is what a library that waits passes each time that it
 * looks: UCX's own, but where there is something to flush again, at first, and at the end. */
static struct {
    flush flushes[FLUSHES];
    _Atomic int again_count;
    _Atomic(progress_function) progress;
    int stays;
} state = {.progress = progress_slowly};

static flush *take_flush(void)
{
    for (int i = 0; i < FLUSHES; i++) {
        int was = FREE;
        if (__atomic_compare_exchange_n((int *)&state.flushes[i].taken, &was, TAKEN, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return &state.flushes[i];
    }
    return NULL;
}

/* How the end is found. That a put is complete says only that its buffer is free again, and
 * some libraries ask for no more before the epoch is closed. So a flush of ours follows: where it
 * is complete at once, so is the put; where not, it completes in whatever call of the program makes
 * progress. One at a time for each endpoint: what was posted meanwhile is flushed after it, when
 * the library next looks and no callback is under way. */

static void looked(void *request, int8_t status, void *data);

/* Flush the endpoint of `f`, which is taken and whose owner is watched. */
static void look(flush *f)
{
    static flush_function real;
    if (!real)
        real = (flush_function)ix_next_symbol("ucp_ep_flush_nbx");
    void *ep = (void *)(uintptr_t)f->object;
    ix_ucp_param param = {
        .op_attr_mask = IX_UCP_CALLBACK | IX_UCP_USER_DATA, .cb.send = looked, .user_data = f};
    uint64_t last = f->last = ix_onesided_last();
    ix_ucx_endpoint *watched = f->watched;
    void *result = real(ep, &param);
    if (result && !ix_ucx_is_error(result))
        return;
    watched->watched = 0;
    f->taken = FREE;
    if (!result)
        ix_onesided_flushed(ep, last);
}

static void looked(void *request, int8_t status, void *data)
{
    static void (*free_request)(void *request);
    flush *f = data;
    if (!free_request)
        free_request = (void (*)(void *))ix_next_symbol("ucp_request_free");
    free_request(request);
    if (status == IX_UCS_OK) {
        ix_onesided_flushed(f->object, f->last);
        if (ix_onesided_last() && ix_onesided_waits(f->object, f->last)) {
            f->taken = AGAIN;
            state.again_count++;
            atomic_store(&state.progress, progress_slowly);
            return;
        }
    }
    f->watched->watched = 0;
    f->taken = FREE;
}

static void look_again(const void *worker)
{
    for (int i = 0; i < FLUSHES; i++) {
        flush *f = &state.flushes[i];
        int again = AGAIN;
        if (f->taken != AGAIN || f->watched->worker != worker ||
            !__atomic_compare_exchange_n((int *)&f->taken, &again, TAKEN, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        state.again_count--;
        if (f->watched->endpoint == f->object)
            look(f);
        else
            f->taken = FREE; /* closed meanwhile */
    }
}

/* Closing an endpoint of UCX's TCP transport asks the other side for an answer. A rank that has all
 * of its own goes on to where it answers nobody (MPICH 4.0.2: a barrier of the process manager),
 * and another one, which answered it before it asked in turn, waits for ever. It asks at once after
 * it has answered. */
static unsigned progress_until_quiet(progress_function real, void *worker)
{
    const int64_t quiet_ns = 20 * 1000 * 1000, most_ns = INT64_C(2000000000);
    const struct timespec pause = {0, 50 * 1000};
    int64_t begin_ns = ix_now(), now_ns = begin_ns, last_ns = begin_ns;
    unsigned events = 0;
    while (now_ns - last_ns < quiet_ns && now_ns - begin_ns < most_ns) {
        unsigned came = real(worker);
        events += came;
        if (!came)
            nanosleep(&pause, NULL); /* ranks may share a core */
        now_ns = ix_now();
        if (came)
            last_ns = now_ns;
    }
    return events;
}

static IX_COLD unsigned progress_slowly(void *worker)
{
    static progress_function real;
    if (!real)
        real = (progress_function)ix_next_symbol("ucp_worker_progress");
    look_again(worker);
    if (state.stays)
        return progress_until_quiet(real, worker);
    atomic_store(&state.progress, real);
    if (state.again_count) /* another worker's, or added meanwhile */
        atomic_store(&state.progress, progress_slowly);
    return real(worker);
}

void ix_ucx_stay(void)
{
    state.stays = 1;
    atomic_store(&state.progress, progress_slowly);
}

IX_EXPORT unsigned ucp_worker_progress(void *worker)
{
    return atomic_load_explicit(&state.progress, memory_order_relaxed)(worker);
}

static void watch(const void *ep, ix_ucx_endpoint *o)
{
    int was = 0;
    if (!o ||
        !__atomic_compare_exchange_n(&o->watched, &was, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    flush *f = take_flush();
    if (!f) {
        o->watched = 0;
        return;
    }
    f->object = ep;
    f->watched = o;
    look(f);
}

static void posted(ix_thread *t, enum ix_onesided_kind kind, const void *ep, int64_t bytes,
                   int64_t now)
{
    ix_ucx_endpoint *o = ix_ucx_endpoint_of(ep);
    if (ix_onesided_posted(t, kind, ep, o ? o->worker : NULL, bytes, now))
        watch(ep, o);
}

/* One call into the library, unless it is its own. */
#define PASS_ON(kind, call)                                                                        \
    ix_thread *t = inside ? NULL : ix_onesided_poster();                                           \
    int64_t now = t ? ix_now() : 0;                                                                \
    inside++;                                                                                      \
    void *result = call;                                                                           \
    inside--;                                                                                      \
    if (t && !ix_ucx_is_error(result))                                                             \
        posted(t, kind, ep, bytes_of(count, param), now);                                          \
    return result

IX_EXPORT void *ucp_put_nbx(void *ep, const void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    IX_REAL(put_function, "ucp_put_nbx")
    PASS_ON(IX_A_PUT, real(ep, buffer, count, remote, rkey, param));
}

IX_EXPORT void *ucp_get_nbx(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    IX_REAL(get_function, "ucp_get_nbx")
    PASS_ON(IX_A_GET, real(ep, buffer, count, remote, rkey, param));
}

/* What the library flushes by itself ends transfers as well. */

static void flushed(void *request, int8_t status, void *data)
{
    flush *f = data;
    ix_ucp_sent callback = f->callback;
    void *user_data = f->user_data;
    if (status == IX_UCS_OK)
        ix_onesided_flushed(f->object, f->last);
    f->taken = FREE;
    if (callback)
        callback(request, status, user_data);
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
    if (!result || ix_ucx_is_error(result)) {
        if (!result)
            ix_onesided_flushed(object, last);
        f->taken = FREE; /* no callback follows */
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

IX_EXPORT void *ucp_worker_flush_nbx(void *worker, const ix_ucp_param *param)
{
    IX_REAL(flush_function, "ucp_worker_flush_nbx")
    return flush_as(real, worker, param);
}

IX_EXPORT void *ucp_ep_flush_nbx(void *ep, const ix_ucp_param *param)
{
    IX_REAL(flush_function, "ucp_ep_flush_nbx")
    return flush_as(real, ep, param);
}

IX_EXPORT int8_t ucp_worker_flush(void *worker)
{
    IX_REAL(flush_wait_function, "ucp_worker_flush")
    return flush_now(real, worker);
}

IX_EXPORT int8_t ucp_ep_flush(void *ep)
{
    IX_REAL(flush_wait_function, "ucp_ep_flush")
    return flush_now(real, ep);
}

#endif
