/* One-sided messages of UCP: ucp_put_nbx and ucp_get_nbx, which the older names call. Their own
 * callbacks say that the buffer can be used again, not that the data has arrived; a flush does. So
 * a transfer begins when it is posted and is over when a flush behind it is complete, or at the
 * latest when the MPI call returns that closes its epoch. */
#ifndef IMBREX_DIRECT
#include <pthread.h>
#include <string.h>

#include "../mpi/job.h"
#include "../mpi/resolve.h"
#include "ucx.h"
#include "ucx_abi.h"

#define IX_EXPORT __attribute__((visibility("default")))

typedef void *(*put_function)(void *ep, const void *buffer, size_t count, uint64_t remote,
                              void *rkey, const ix_ucp_param *param);
typedef void *(*get_function)(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                              const ix_ucp_param *param);
typedef void *(*flush_function)(void *object, const ix_ucp_param *param);
typedef int8_t (*flush_wait_function)(void *object);
typedef int8_t (*connect_function)(void *worker, const void *parameters, void **endpoint);

static uint8_t the_path;
static const uint8_t *is_one_sided;
static int in_use;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never contended but with threads */

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

/* ---- Transfers that no flush has ended yet */

enum { ROOM = 1024 }; /* fewer than the table of open transfers has, so that others find room */

typedef struct posted {
    uint64_t group; /* of the window, once the MPI call has said which */
    uint64_t order;
    const void *endpoint, *worker;
    int64_t bytes;
    int32_t target;
    uint32_t token;
} posted;

static posted open_ones[ROOM];
static uint32_t open_count;
static uint64_t last_order;

/* What the MPI call in progress has posted. */
static __thread struct {
    uint64_t call; /* how many calls of this thread came before */
    int64_t bytes; /* -1: not all of it could be taken */
    uint64_t first_order;
} mine;

static uint64_t call_number(const ix_thread *t)
{
    return (uint64_t)t->part->calls + 1;
}

static void note_post(ix_thread *t, const void *endpoint, int64_t bytes)
{
    if (mine.call != call_number(t)) {
        mine.call = call_number(t);
        mine.bytes = 0;
        mine.first_order = 0;
    }
    if (mine.bytes < 0 || bytes < 0) {
        mine.bytes = -1;
        return;
    }
    /* the times are those of one-sided operations: of the MPI call in progress */
    ix_transfer x = {.bytes = bytes,
                     .path = the_path,
                     .slack = IX_SLACK_NONE,
                     .flags = IX_UP_TO | IX_COLLECTIVE,
                     .ranks = 2};
    pthread_mutex_lock(&lock);
    uint32_t token = open_count < ROOM ? ix_post(t, &x, ix_now(), IX_SOURCE_CALLBACK) : 0;
    if (token) {
        if (!mine.first_order)
            mine.first_order = last_order + 1;
        open_ones[open_count++] = (posted){.order = ++last_order,
                                           .endpoint = endpoint,
                                           .worker = owner_of(endpoint),
                                           .bytes = bytes,
                                           .token = token};
        mine.bytes += bytes;
    } else if (bytes) {
        mine.bytes = -1;
    }
    pthread_mutex_unlock(&lock);
}

enum which { BEHIND_FLUSH, OF_GROUP, OF_CALL };

typedef struct choice {
    enum which which;
    uint64_t order;     /* BEHIND_FLUSH: the last that it is behind; OF_CALL: the first */
    const void *object; /* BEHIND_FLUSH: the endpoint or the worker */
    uint64_t group;
    int32_t target;
} choice;

static int is_chosen(const posted *p, const choice *c)
{
    switch (c->which) {
    case BEHIND_FLUSH:
        return p->order <= c->order && (c->object == p->endpoint || c->object == p->worker);
    case OF_GROUP:
        return p->group == c->group && (c->target == IX_ALL || c->target == p->target);
    default:
        return p->order >= c->order;
    }
}

/* End those that are chosen; as having moved nothing where the MPI call's own transfer counts. */
static void end_chosen(const choice *c, enum ix_slack slack, enum ix_source source, int moved)
{
    int64_t now = ix_now();
    ix_thread *t = ix_current();
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < open_count;) {
        posted *p = &open_ones[i];
        if (!is_chosen(p, c)) {
            i++;
            continue;
        }
        ix_complete(t, p->token, now, moved ? p->bytes : 0, slack, source);
        *p = open_ones[--open_count];
    }
    pthread_mutex_unlock(&lock);
}

/* ---- What the MPI calls say */

void ix_ucx_use_rma(int path, const uint8_t *one_sided)
{
    the_path = (uint8_t)path;
    is_one_sided = one_sided;
    in_use = 1;
}

int ix_ucx_rma_begun(ix_thread *t, uint64_t group, int32_t target, const ix_transfer *transfer)
{
    if (!in_use || !t || mine.call != call_number(t) || !mine.first_order)
        return 0;
    int all = mine.bytes == transfer->bytes && transfer->path == the_path;
    choice of_call = {.which = OF_CALL, .order = mine.first_order};
    mine.call = 0;
    if (!all) {
        end_chosen(&of_call, IX_SLACK_NONE, IX_SOURCE_CALLBACK, 0);
        return 0;
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < open_count; i++)
        if (open_ones[i].order >= of_call.order && !open_ones[i].group) {
            open_ones[i].group = group;
            open_ones[i].target = target;
        }
    pthread_mutex_unlock(&lock);
    return 1;
}

void ix_ucx_rma_closed(ix_thread *t, uint64_t group, int32_t target, int slack)
{
    if (!in_use || !t || !open_count)
        return;
    choice of_group = {.which = OF_GROUP, .group = group, .target = target};
    end_chosen(&of_group, (enum ix_slack)slack, IX_SOURCE_CALL, 1);
}

/* ---- The functions of UCP */

static __thread int inside; /* one of these calls another */

static int is_ours(ix_thread **t)
{
    *t = ix_self;
    return in_use && ix_measuring && !inside && *t && (*t)->depth && is_one_sided[(*t)->operation];
}

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

static void posting(void *ep, size_t count, const ix_ucp_param *param)
{
    ix_thread *t;
    if (is_ours(&t))
        note_post(t, ep, bytes_of(count, param));
}

IX_EXPORT void *ucp_put_nbx(void *ep, const void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    REAL(put_function, "ucp_put_nbx")
    posting(ep, count, param);
    inside++;
    void *result = real(ep, buffer, count, remote, rkey, param);
    inside--;
    return result;
}

IX_EXPORT void *ucp_get_nbx(void *ep, void *buffer, size_t count, uint64_t remote, void *rkey,
                            const ix_ucp_param *param)
{
    REAL(get_function, "ucp_get_nbx")
    posting(ep, count, param);
    inside++;
    void *result = real(ep, buffer, count, remote, rkey, param);
    inside--;
    return result;
}

/* A flush under way: what its callback needs. */
enum { FLUSHES = 64 };

typedef struct flush {
    _Atomic int taken;
    ix_ucp_sent callback;
    void *user_data;
    choice behind;
} flush;

static flush flushes[FLUSHES];

static void flushed(void *request, int8_t status, void *data)
{
    flush *f = data;
    ix_ucp_sent callback = f->callback;
    void *user_data = f->user_data;
    if (status == IX_UCS_OK && ix_measuring)
        end_chosen(&f->behind, IX_SLACK_NONE, IX_SOURCE_CALLBACK, 1);
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
    flush *f = in_use && ix_measuring && open_count && known ? take_flush() : NULL;
    if (!f)
        return real(object, param);
    ix_ucp_param copy;
    if (param->op_attr_mask & IX_UCP_MEMH)
        copy = *param;
    else
        memcpy(&copy, param, offsetof(ix_ucp_param, memh));
    f->callback = copy.op_attr_mask & IX_UCP_CALLBACK ? copy.cb.send : NULL;
    f->user_data = copy.op_attr_mask & IX_UCP_USER_DATA ? copy.user_data : NULL;
    f->behind = (choice){.which = BEHIND_FLUSH, .order = last_order, .object = object};
    copy.cb.send = flushed;
    copy.user_data = f;
    copy.op_attr_mask |= IX_UCP_CALLBACK | IX_UCP_USER_DATA;
    void *result = real(object, &copy);
    if (!result || (uintptr_t)result >= (uintptr_t)(intptr_t)IX_UCS_LAST_ERROR) {
        if (!result)
            end_chosen(&f->behind, IX_SLACK_NONE, IX_SOURCE_CALLBACK, 1);
        f->taken = 0; /* no callback follows */
    }
    return result;
}

static int8_t flush_now(flush_wait_function real, void *object)
{
    choice behind = {.which = BEHIND_FLUSH, .order = last_order, .object = object};
    int8_t status = real(object);
    if (status == IX_UCS_OK && in_use && ix_measuring && open_count)
        end_chosen(&behind, IX_SLACK_NONE, IX_SOURCE_CALLBACK, 1);
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
