/* Tagged messages of libfabric, from their posts and from what is read of completion queues. */
#ifndef IMBREX_DIRECT
#include "transport/ofi.h"

#include "base/measuring.h"
#include "transport/inflight.h"
#include "transport/ofi_tables.h"
#include "transport/self_messages.h"

/* All that this source keeps between calls. */
static struct {
    int passed; /* some tagged message came through here */
    ix_seen *watching;
    int in_use, has_self;
    uint8_t path;
    ix_fi_addr self_address;
    ix_self_messages self_messages;
    const uint8_t *is_data;
    ix_inflight messages;
} state = {.messages = {.busy = ATOMIC_FLAG_INIT}};

static ix_thread *poster(void)
{
    if (!state.in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && ix_depth(t) && state.is_data[t->operation] ? t : NULL;
}

enum kind { SEND, RECEIVE };

static uint32_t begin(enum kind kind, int64_t bytes, void *context)
{
    ix_thread *t = poster();
    if (!t)
        return 0;
    ix_transfer x = {.bytes = bytes,
                     .path = state.path,
                     .slack = kind == SEND ? IX_SLACK_TAIL : IX_SLACK_HEAD,
                     .flags = kind == SEND ? 0 : IX_UP_TO};
    uint32_t token = ix_post(t, &x, ix_now(), IX_SOURCE_CALLBACK);
    if (!token || !context)
        return token;
    ix_message message = {
        .id = (uintptr_t)context, .bytes = bytes, .token = token, .kind = (uint8_t)kind};
    return ix_inflight_add(&state.messages, t, message) ? token : 0;
}

/* Take back what could not be posted (the queue is full: the library tries again). */
static void not_begun(uint32_t token, void *context)
{
    if (!token)
        return;
    if (context) {
        ix_inflight_lock(&state.messages);
        ix_message *m = ix_inflight_find(&state.messages, (uintptr_t)context);
        if (m->id)
            ix_inflight_forget(&state.messages, m);
        ix_inflight_unlock(&state.messages);
    }
    ix_complete(ix_current(), token, ix_now(), 0, IX_SLACK_NONE, IX_SOURCE_CALLBACK);
}

/* Before a send: the token, 0 for one to itself. */
static uint32_t begin_send(int64_t bytes, ix_fi_addr to, uint64_t tag, uint64_t data, void *context)
{
    state.passed = 1;
    if (state.watching) {
        state.watching->sent += bytes;
        state.watching->sends++;
        state.watching->endpoint = to;
        state.watching->tag = tag;
    }
    if (state.has_self && to == state.self_address && ix_self_sent(&state.self_messages, tag, data))
        return 0;
    return begin(SEND, bytes, context);
}

static uint32_t begin_receive(int64_t bytes, void *context)
{
    state.passed = 1;
    if (state.watching)
        state.watching->received += bytes;
    return context ? begin(RECEIVE, bytes, context) : 0;
}

static ssize_t posted(ssize_t result, uint32_t token, void *context)
{
    if (result)
        not_begun(token, context);
    return result;
}

/* An injected message has left the buffer when the call returns, and no completion follows. */
static ssize_t injected(ssize_t result, uint32_t token)
{
    if (token)
        ix_complete(ix_current(), token, ix_now(), result ? 0 : IX_AS_POSTED, IX_SLACK_TAIL,
                    IX_SOURCE_CALLBACK);
    return result;
}

/* One call into the library: `begun` before it and `done` after it, unless it is its own. */
#define PASS_ON(member, begun, call, done)                                                         \
    __typeof__((ep)->tagged) real = IX_OFI_REAL(ep, tagged);                                       \
    if (ix_ofi_inside)                                                                             \
        return real->member call;                                                                  \
    uint32_t token = begun;                                                                        \
    ix_ofi_inside = 1;                                                                             \
    ssize_t result = real->member call;                                                            \
    ix_ofi_inside = 0;                                                                             \
    return done

static ssize_t tagged_recv(ix_fi_ep *ep, void *buf, size_t len, void *desc, ix_fi_addr from,
                           uint64_t tag, uint64_t ignore, void *context)
{
    PASS_ON(recv, begin_receive((int64_t)len, context),
            (ep, buf, len, desc, from, tag, ignore, context), posted(result, token, context));
}

static ssize_t tagged_recvv(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                            ix_fi_addr from, uint64_t tag, uint64_t ignore, void *context)
{
    PASS_ON(recvv, begin_receive(ix_ofi_length(iov, count), context),
            (ep, iov, desc, count, from, tag, ignore, context), posted(result, token, context));
}

static ssize_t tagged_recvmsg(ix_fi_ep *ep, const ix_fi_msg_tagged *msg, uint64_t flags)
{
    int looks = (flags & (IX_FI_PEEK | IX_FI_DISCARD)) != 0;
    PASS_ON(recvmsg,
            looks ? 0 : begin_receive(ix_ofi_length(msg->iov, msg->iov_count), msg->context),
            (ep, msg, flags), posted(result, token, msg->context));
}

static ssize_t tagged_send(ix_fi_ep *ep, const void *buf, size_t len, void *desc, ix_fi_addr to,
                           uint64_t tag, void *context)
{
    PASS_ON(send, begin_send((int64_t)len, to, tag, 0, context),
            (ep, buf, len, desc, to, tag, context), posted(result, token, context));
}

static ssize_t tagged_sendv(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                            ix_fi_addr to, uint64_t tag, void *context)
{
    PASS_ON(sendv, begin_send(ix_ofi_length(iov, count), to, tag, 0, context),
            (ep, iov, desc, count, to, tag, context), posted(result, token, context));
}

static ssize_t tagged_sendmsg(ix_fi_ep *ep, const ix_fi_msg_tagged *msg, uint64_t flags)
{
    uint64_t data = flags & IX_FI_REMOTE_CQ_DATA ? msg->data : 0;
    PASS_ON(sendmsg,
            begin_send(ix_ofi_length(msg->iov, msg->iov_count), msg->addr, msg->tag, data,
                       msg->context),
            (ep, msg, flags), posted(result, token, msg->context));
}

static ssize_t tagged_senddata(ix_fi_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
                               ix_fi_addr to, uint64_t tag, void *context)
{
    PASS_ON(senddata, begin_send((int64_t)len, to, tag, data, context),
            (ep, buf, len, desc, data, to, tag, context), posted(result, token, context));
}

static ssize_t tagged_inject(ix_fi_ep *ep, const void *buf, size_t len, ix_fi_addr to, uint64_t tag)
{
    PASS_ON(inject, begin_send((int64_t)len, to, tag, 0, NULL), (ep, buf, len, to, tag),
            injected(result, token));
}

static ssize_t tagged_injectdata(ix_fi_ep *ep, const void *buf, size_t len, uint64_t data,
                                 ix_fi_addr to, uint64_t tag)
{
    PASS_ON(injectdata, begin_send((int64_t)len, to, tag, data, NULL),
            (ep, buf, len, data, to, tag), injected(result, token));
}

void ix_ofi_fill_tagged(ix_fi_tagged_ops *copy)
{
    copy->recv = tagged_recv;
    copy->recvv = tagged_recvv;
    copy->recvmsg = tagged_recvmsg;
    copy->send = tagged_send;
    copy->sendv = tagged_sendv;
    copy->sendmsg = tagged_sendmsg;
    copy->inject = tagged_inject;
    copy->senddata = tagged_senddata;
    copy->injectdata = tagged_injectdata;
}

int ix_ofi_is_filled(const ix_fi_tagged_ops *table)
{
    return table->send == tagged_send;
}

/* A transfer ends where the library reads its completion from a queue. */

static void ended(const ix_fi_entry *entry, size_t stride, int failed)
{
    if (!state.in_use || !ix_measuring || !entry->context)
        return;
    ix_thread *t = ix_current();
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, (uintptr_t)entry->context);
    if (m->id) {
        int sized = stride >= IX_UP_TO_MEMBER(ix_fi_entry, len);
        int told = stride >= IX_UP_TO_MEMBER(ix_fi_entry, tag);
        uint64_t data = told && entry->flags & IX_FI_REMOTE_CQ_DATA ? entry->data : 0;
        if (failed || (m->kind == RECEIVE && !sized))
            ix_end_unknown(t, m->token);
        else if (m->kind == SEND)
            ix_complete(t, m->token, ix_now(), IX_AS_POSTED, IX_SLACK_TAIL, IX_SOURCE_POLL);
        else
            ix_complete(t, m->token, ix_now(),
                        state.has_self && told &&
                                ix_from_self(&state.self_messages, entry->tag, data)
                            ? 0
                            : (int64_t)entry->len,
                        IX_SLACK_HEAD, IX_SOURCE_POLL);
        ix_inflight_forget(&state.messages, m);
    }
    ix_inflight_unlock(&state.messages);
}

static ssize_t completed(const ix_fi_cq *cq, ssize_t result, const void *entries)
{
    size_t stride = ix_ofi_head_of(cq->ops)->stride;
    for (ssize_t i = 0; i < result; i++)
        ended((const ix_fi_entry *)((const char *)entries + (size_t)i * stride), stride, 0);
    return result;
}

#define READ(call)                                                                                 \
    const ix_fi_cq_ops *real = IX_OFI_REAL(cq, ops);                                               \
    if (ix_ofi_inside)                                                                             \
        return real->call;                                                                         \
    ix_ofi_inside = 1;                                                                             \
    ssize_t result = real->call;                                                                   \
    ix_ofi_inside = 0;                                                                             \
    return completed(cq, result, buf)

static ssize_t cq_read(ix_fi_cq *cq, void *buf, size_t count)
{
    READ(read(cq, buf, count));
}

static ssize_t cq_readfrom(ix_fi_cq *cq, void *buf, size_t count, ix_fi_addr *from)
{
    READ(readfrom(cq, buf, count, from));
}

static ssize_t cq_sread(ix_fi_cq *cq, void *buf, size_t count, const void *condition, int timeout)
{
    READ(sread(cq, buf, count, condition, timeout));
}

static ssize_t cq_sreadfrom(ix_fi_cq *cq, void *buf, size_t count, ix_fi_addr *from,
                            const void *condition, int timeout)
{
    READ(sreadfrom(cq, buf, count, from, condition, timeout));
}

static ssize_t cq_readerr(ix_fi_cq *cq, ix_fi_entry *error, uint64_t flags)
{
    ssize_t result = IX_OFI_REAL(cq, ops)->readerr(cq, error, flags);
    if (result > 0 && !ix_ofi_inside)
        ended(error, sizeof *error, 1);
    return result;
}

void ix_ofi_fill_cq(ix_fi_cq_ops *copy)
{
    copy->read = cq_read;
    copy->readfrom = cq_readfrom;
    copy->readerr = cq_readerr;
    copy->sread = cq_sread;
    copy->sreadfrom = cq_sreadfrom;
}

int ix_ofi_present(void)
{
    return state.passed;
}

void ix_ofi_watch(ix_seen *seen)
{
    state.watching = seen;
}

void ix_ofi_use(int path, int self_known, uint64_t self, uint64_t tag_bits, const uint8_t *data)
{
    state.path = (uint8_t)path;
    state.has_self = self_known;
    state.self_address = self;
    state.self_messages.mpi_tag_bits = tag_bits;
    state.is_data = data;
    state.in_use = 1;
}

#endif
