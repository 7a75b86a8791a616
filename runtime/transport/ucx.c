/* The tagged messages of UCP, seen by standing in front of its functions. The nb names of UCX call
 * the nbx ones through the symbol table, so these see both. Nothing here enters the kernel. */
#ifndef IMBREX_DIRECT
#include "transport/ucx.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/measuring.h"
#include "base/symbols.h"
#include "transport/self_messages.h"
#include "transport/ucx_abi.h"
#include "transport/ucx_real.h"

typedef void *(*send_function)(void *ep, const void *buffer, size_t count, uint64_t tag,
                               const ix_ucp_param *param);
typedef void *(*receive_function)(void *worker, void *buffer, size_t count, uint64_t tag,
                                  uint64_t mask, const ix_ucp_param *param);
typedef void *(*message_function)(void *worker, void *buffer, size_t count, void *message,
                                  const ix_ucp_param *param);
typedef int8_t (*create_function)(const ix_ucp_generic *functions, void *context, uint64_t *type);

/* What a message passes that nobody looks at: one line of the cache. */
static struct {
    send_function send, send_sync;
    receive_function receive;
    message_function message;
    int looks; /* watching, or in use */
} tagged __attribute__((aligned(64)));

/* What the completion callback of a call under way needs stands here, by the token of its transfer.
 */

#define CALLS 8192 /* as many as the engine has tokens */

typedef struct call {
    union {
        ix_ucp_sent send;
        ix_ucp_received recv;
    } callback;
    void *user_data;
    int64_t bytes; /* of a send, once they are known; else IX_AS_POSTED */
    uint32_t token;
} call;

/* All that this source keeps between calls. */
static struct {
    int passed; /* some UCP function came through here */
    ix_seen *watching;
    int in_use; /* what is posted now is a transfer */
    uint8_t path;
    const void *self_endpoint;
    ix_self_messages self_messages;
    const uint8_t *is_data;
    ix_ucp_generic maker; /* of datatypes: a library has one set of functions for all of them */
    call calls[CALLS];
} state;

/* What this thread is just posting. */
static __thread struct {
    call *receive;
    call *unsized_send; /* its size is told while it is posted */
} posting;

/* Some datatypes only their maker can size. It must not be asked again, since the library may count
 * how often it packs; so what it tells UCX is listened to. */

static size_t listen_to_size(void *packing)
{
    size_t bytes = state.maker.packed_size(packing);
    if (posting.unsized_send)
        posting.unsized_send->bytes = (int64_t)bytes;
    return bytes;
}

IX_EXPORT int8_t ucp_dt_create_generic(const ix_ucp_generic *functions, void *context,
                                       uint64_t *type)
{
    static create_function real;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    ix_ucp_generic heard = *functions;
    pthread_mutex_lock(&lock);
    if (!real)
        real = (create_function)ix_next_symbol("ucp_dt_create_generic");
    if (!state.maker.packed_size)
        state.maker = *functions;
    const char *events = getenv("IMBREX_EVENTS");
    int wanted = events && strcmp(events, "call");
    if (functions->packed_size == state.maker.packed_size && wanted)
        heard.packed_size = listen_to_size;
    pthread_mutex_unlock(&lock);
    return real(&heard, context, type);
}

#define UNKNOWN_SIZE (INT64_C(1) << 40)

static int64_t size_of(size_t count, const ix_ucp_param *param)
{
    uint64_t type = param->datatype;
    if (!(param->op_attr_mask & IX_UCP_DATATYPE))
        return (int64_t)count;
    if ((type & IX_UCP_KINDS) == IX_UCP_CONTIG)
        return (int64_t)(count * (type >> IX_UCP_SHIFT));
    return UNKNOWN_SIZE;
}

int ix_ucx_present(void)
{
    return state.passed;
}

void ix_ucx_watch(ix_seen *seen)
{
    state.watching = seen;
    tagged.looks = state.watching || state.in_use;
}

void ix_ucx_use(int path, const void *self, uint64_t tag_bits, const uint8_t *data)
{
    state.path = (uint8_t)path;
    state.self_endpoint = self;
    state.self_messages.mpi_tag_bits = tag_bits;
    state.is_data = data;
    state.in_use = 1;
    tagged.looks = 1;
}

/* The thread, if what it posts now is user data of the program's. */
static ix_thread *poster(void)
{
    if (!state.in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && ix_depth(t) && state.is_data[t->operation] ? t : NULL;
}

static void end(uint32_t token, int64_t bytes, enum ix_slack slack)
{
    if (ix_measuring)
        ix_complete(ix_current(), token, ix_now(), bytes, slack, IX_SOURCE_CALLBACK);
}

/* 0 when the parameters have fields that a copy would lose. */
static int copy_param(ix_ucp_param *copy, const ix_ucp_param *param)
{
    if (param->op_attr_mask & IX_UCP_UNKNOWN_FIELDS)
        return 0;
    if (param->op_attr_mask & IX_UCP_MEMH)
        *copy = *param;
    else
        __builtin_memcpy(copy, param, offsetof(ix_ucp_param, memh));
    return 1;
}

static void keep_user_data(call *c, uint32_t token, ix_ucp_param *copy)
{
    c->token = token;
    c->user_data = copy->op_attr_mask & IX_UCP_USER_DATA ? copy->user_data : NULL;
    copy->user_data = c;
    copy->op_attr_mask |= IX_UCP_CALLBACK | IX_UCP_USER_DATA;
}

static void sent(void *request, int8_t status, void *data)
{
    call *c = data;
    ix_ucp_sent callback = c->callback.send;
    void *user_data = c->user_data;
    uint32_t token = c->token;
    int64_t bytes = c->bytes;
    end(token, bytes, status == IX_UCS_OK ? IX_SLACK_TAIL : IX_SLACK_UNKNOWN);
    if (callback)
        callback(request, status, user_data);
}

static __attribute__((noinline)) void *send_as(send_function real, void *ep, const void *buffer,
                                               size_t count, uint64_t tag,
                                               const ix_ucp_param *param)
{
    if (state.watching) {
        state.watching->sent += size_of(count, param);
        state.watching->sends++;
        state.watching->endpoint = (uintptr_t)ep;
        state.watching->tag = tag;
    }
    ix_thread *t = poster();
    if (!t || (ep == state.self_endpoint && ix_self_sent(&state.self_messages, tag, 0)))
        return real(ep, buffer, count, tag, param);
    ix_transfer x = {.bytes = size_of(count, param), .path = state.path, .slack = IX_SLACK_TAIL};
    if (x.bytes == UNKNOWN_SIZE)
        x.flags = IX_UP_TO;
    uint32_t token = ix_post(t, &x, ix_last_time(t), IX_SOURCE_CALLBACK);
    if (!token)
        return real(ep, buffer, count, tag, param);
    ix_ucp_param copy;
    call *c = copy_param(&copy, param) && token <= CALLS ? &state.calls[token - 1] : NULL;
    if (!c) {
        void *result = real(ep, buffer, count, tag, param);
        end(token, IX_AS_POSTED, result ? IX_SLACK_UNKNOWN : IX_SLACK_TAIL);
        return result;
    }
    c->callback.send = copy.op_attr_mask & IX_UCP_CALLBACK ? copy.cb.send : NULL;
    c->bytes = IX_AS_POSTED;
    keep_user_data(c, token, &copy);
    copy.cb.send = sent;
    posting.unsized_send = x.flags ? c : NULL;
    void *result = real(ep, buffer, count, tag, &copy);
    posting.unsized_send = NULL;
    if (!result || ix_ucx_is_error(result)) { /* no callback follows */
        end(token, result ? 0 : c->bytes, IX_SLACK_TAIL);
    }
    return result;
}

#define UNTOLD SIZE_MAX

static int is_from_self(const ix_ucp_tag_info *info)
{
    return state.self_endpoint && ix_from_self(&state.self_messages, info->sender_tag, 0);
}

/* How a receive ends: the data of one that is complete at once came before it was posted. */
static void end_receive(uint32_t token, int8_t status, const ix_ucp_tag_info *info, int immediate)
{
    if (status == IX_UCS_CANCELED)
        end(token, 0, IX_SLACK_NONE);
    else if (status != IX_UCS_OK || !info || info->length == UNTOLD)
        end(token, IX_AS_POSTED, IX_SLACK_UNKNOWN);
    else
        end(token, is_from_self(info) ? 0 : (int64_t)info->length,
            immediate ? IX_SLACK_UNKNOWN : IX_SLACK_HEAD);
}

static void received(void *request, int8_t status, const ix_ucp_tag_info *info, void *data)
{
    call *c = data;
    ix_ucp_received callback = c->callback.recv;
    void *user_data = c->user_data;
    uint32_t token = c->token;
    int immediate = posting.receive == c;
    end_receive(token, status, info, immediate);
    if (callback)
        callback(request, status, info, user_data);
}

/* One receive, by tag or of a matched message: `post` calls the library with the parameters. */
typedef struct receive {
    receive_function by_tag;
    message_function by_message;
    void *worker, *buffer, *message;
    size_t count;
    uint64_t tag, mask;
} receive;

static void *post(const receive *r, const ix_ucp_param *param)
{
    if (r->by_tag)
        return r->by_tag(r->worker, r->buffer, r->count, r->tag, r->mask, param);
    return r->by_message(r->worker, r->buffer, r->count, r->message, param);
}

static void *receive_as(const receive *r, const ix_ucp_param *param)
{
    ix_thread *t = poster();
    if (!t) {
        if (state.watching)
            state.watching->received += size_of(r->count, param);
        return post(r, param);
    }
    ix_transfer x = {.bytes = size_of(r->count, param),
                     .path = state.path,
                     .slack = IX_SLACK_HEAD,
                     .flags = IX_UP_TO};
    uint32_t token = ix_post(t, &x, ix_last_time(t), IX_SOURCE_CALLBACK);
    if (!token)
        return post(r, param);
    ix_ucp_param copy;
    call *c = copy_param(&copy, param) && token <= CALLS ? &state.calls[token - 1] : NULL;
    if (!c) {
        end(token, IX_AS_POSTED, IX_SLACK_UNKNOWN);
        return post(r, param);
    }
    /* UCX 1.13 leaves the caller's information as it was when the receive completes at once. */
    ix_ucp_tag_info mine = {.length = UNTOLD}, *theirs = NULL;
    c->callback.recv = copy.op_attr_mask & IX_UCP_CALLBACK ? copy.cb.recv : NULL;
    keep_user_data(c, token, &copy);
    copy.cb.recv = received;
    if (copy.op_attr_mask & IX_UCP_RECV_INFO)
        theirs = copy.tag_info;
    copy.op_attr_mask |= IX_UCP_RECV_INFO;
    copy.tag_info = &mine;
    call *outer = posting.receive;
    posting.receive = c;
    void *result = post(r, &copy);
    posting.receive = outer;
    if (theirs && mine.length != UNTOLD)
        *theirs = mine;
    if (!result || ix_ucx_is_error(result)) {
        end_receive(token, (int8_t)(intptr_t)result, &mine, 1);
    }
    return result;
}

/* The functions of UCP as the library calls them. */

/* Straight on, unless somebody looks. */
#define PASS(member, ...)                                                                          \
    if (IX_UNLIKELY(!tagged.member))                                                               \
        find_tagged();                                                                             \
    if (IX_LIKELY(!tagged.looks))                                                                  \
        return tagged.member(__VA_ARGS__);

static IX_COLD void find_tagged(void)
{
    state.passed = 1;
    tagged.send = (send_function)ix_next_symbol("ucp_tag_send_nbx");
    tagged.send_sync = (send_function)ix_next_symbol("ucp_tag_send_sync_nbx");
    tagged.receive = (receive_function)ix_next_symbol("ucp_tag_recv_nbx");
    tagged.message = (message_function)ix_next_symbol("ucp_tag_msg_recv_nbx");
}

static __attribute__((noinline)) void *receive_by_tag(void *worker, void *buffer, size_t count,
                                                      uint64_t tag, uint64_t mask,
                                                      const ix_ucp_param *param)
{
    receive r = {.by_tag = tagged.receive,
                 .worker = worker,
                 .buffer = buffer,
                 .count = count,
                 .tag = tag,
                 .mask = mask};
    return receive_as(&r, param);
}

static __attribute__((noinline)) void *receive_message(void *worker, void *buffer, size_t count,
                                                       void *message, const ix_ucp_param *param)
{
    receive r = {.by_message = tagged.message,
                 .worker = worker,
                 .buffer = buffer,
                 .count = count,
                 .message = message};
    return receive_as(&r, param);
}

IX_EXPORT void *ucp_tag_send_nbx(void *ep, const void *buffer, size_t count, uint64_t tag,
                                 const ix_ucp_param *param)
{
    PASS(send, ep, buffer, count, tag, param)
    return send_as(tagged.send, ep, buffer, count, tag, param);
}

IX_EXPORT void *ucp_tag_send_sync_nbx(void *ep, const void *buffer, size_t count, uint64_t tag,
                                      const ix_ucp_param *param)
{
    PASS(send_sync, ep, buffer, count, tag, param)
    return send_as(tagged.send_sync, ep, buffer, count, tag, param);
}

IX_EXPORT void *ucp_tag_recv_nbx(void *worker, void *buffer, size_t count, uint64_t tag,
                                 uint64_t mask, const ix_ucp_param *param)
{
    PASS(receive, worker, buffer, count, tag, mask, param)
    return receive_by_tag(worker, buffer, count, tag, mask, param);
}

IX_EXPORT void *ucp_tag_msg_recv_nbx(void *worker, void *buffer, size_t count, void *message,
                                     const ix_ucp_param *param)
{
    PASS(message, worker, buffer, count, message, param)
    return receive_message(worker, buffer, count, message, param);
}

#endif
