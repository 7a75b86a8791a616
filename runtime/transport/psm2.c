/* Messages of PSM2's matched queues (Omni-Path), from their posts and from the tests that find them
 * complete. A send names the address of its receiver and a completed receive that of its sender, so
 * that messages within a node and between nodes can both be taken: docs/reference/events.md. */
#ifndef IMBREX_DIRECT
#include "transport/event_source.h"

#include <stdlib.h>

#include "base/measuring.h"
#include "base/symbols.h"
#include "transport/inflight.h"

/* The part of psm2_mq.h (PSM2 2.x) that the source touches, so that it builds where that is not
 * installed. Queues, addresses, tags and requests are only passed on. A test compares. */

enum { PSM2_IS_OK = 0 };

typedef struct tested {
    uint64_t tag;
    uint32_t sent_bytes, bytes;
    int error;
    void *context;
} tested;

typedef struct tested2 {
    const void *peer;
    uint32_t tag[4] __attribute__((aligned(16)));
    uint32_t sent_bytes, bytes;
    int error;
    void *context;
} tested2;

/* What a message passes that nobody looks at: one line of the cache. */
static struct {
    int (*send2)(void *queue, void *to, uint32_t flags, void *tag, const void *buffer,
                 uint32_t bytes);
    int (*isend2)(void *queue, void *to, uint32_t flags, void *tag, const void *buffer,
                  uint32_t bytes, void *context, void **request);
    int (*irecv2)(void *queue, void *from, void *tag, void *tag_bits, uint32_t flags, void *buffer,
                  uint32_t bytes, void *context, void **request);
    int (*imrecv)(void *queue, uint32_t flags, void *buffer, uint32_t bytes, void *context,
                  void **request);
    int (*test)(void **request, tested *status);
    int (*test2)(void **request, tested2 *status);
    int (*cancel)(void **request);
    int looks; /* watching, or in use */
} psm2 __attribute__((aligned(64)));

/* A message under way has the number of its context; a receive that was cancelled also that of its
 * request, until that is given back. */
enum kind { SEND, RECEIVE, CANCELLED };

/* All that this source keeps between calls. */
static struct {
    int passed; /* some message came through here */
    ix_seen *watching;
    uint32_t paths_in_use;
    uint8_t path; /* of all messages to others; IX_PATH_ANY: as `on_node` says */
    const uint8_t *is_data;
    uint64_t self;
    uint64_t *on_node; /* the addresses of the other ranks of this node: a table of hashes */
    uint32_t room;     /* in it, a power of two */
    uint32_t cancelled;
    ix_inflight messages;
} state = {.messages = {.busy = ATOMIC_FLAG_INIT}};

/* The place of an address, or the free one that it would get. */
static uint64_t *place_on_node(uint64_t address)
{
    uint32_t i = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 32) & (state.room - 1);
    while (state.on_node[i] && state.on_node[i] != address)
        i = (i + 1) & (state.room - 1);
    return &state.on_node[i];
}

static int path_of(const void *peer)
{
    uint64_t address = (uintptr_t)peer;
    if (address == state.self)
        return IX_PATH_SELF;
    if (state.path != IX_PATH_ANY)
        return state.path;
    return *place_on_node(address) ? IX_PATH_INTRA : IX_PATH_INTER;
}

/* The thread, if what it posts now is user data of the program's. */
static ix_thread *poster(void)
{
    if (!state.paths_in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && ix_depth(t) && state.is_data[t->operation] ? t : NULL;
}

/* `context` NULL: nobody will find it complete. */
static uint32_t begin(ix_thread *t, enum kind kind, int path, uint32_t bytes, void *context)
{
    ix_transfer x = {.bytes = bytes,
                     .path = (uint8_t)path,
                     .slack = kind == SEND ? IX_SLACK_TAIL : IX_SLACK_HEAD,
                     .flags = kind == SEND ? 0 : IX_UP_TO};
    uint32_t token = ix_post(t, &x, ix_last_time(t), IX_SOURCE_POLL);
    if (!token || !context)
        return token;
    ix_message message = {.id = (uintptr_t)context, .token = token, .kind = (uint8_t)kind};
    return ix_inflight_add(&state.messages, t, message) ? token : 0;
}

static uint32_t begin_send(void *to, uint32_t bytes, void *context)
{
    if (state.watching) {
        state.watching->sent += bytes;
        state.watching->sends++;
        state.watching->endpoint = (uintptr_t)to;
    }
    ix_thread *t = poster();
    int path = t ? path_of(to) : IX_PATH_NONE;
    return t && state.paths_in_use >> path & 1 ? begin(t, SEND, path, bytes, context) : 0;
}

static uint32_t begin_receive(uint32_t bytes, void *context)
{
    if (state.watching)
        state.watching->received += bytes;
    ix_thread *t = context ? poster() : NULL;
    return t ? begin(t, RECEIVE, state.path, bytes, context) : 0;
}

/* Take back what PSM2 did not accept. */
static int posted(int error, uint32_t token, void *context)
{
    if (error == PSM2_IS_OK || !token)
        return error;
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, (uintptr_t)context);
    if (m->id)
        ix_inflight_forget(&state.messages, m);
    ix_inflight_unlock(&state.messages);
    ix_complete(ix_current(), token, ix_now(), 0, IX_SLACK_NONE, IX_SOURCE_POLL);
    return error;
}

/* With the lock held: whether this request was cancelled, which it says once. */
static int was_cancelled(const void *request)
{
    ix_message *m = state.cancelled ? ix_inflight_find(&state.messages, (uintptr_t)request) : NULL;
    if (!m || !m->id)
        return 0;
    ix_inflight_forget(&state.messages, m);
    __atomic_fetch_sub(&state.cancelled, 1, __ATOMIC_RELAXED);
    return 1;
}

/* A request was found complete. `peer` NULL: its message failed, or nobody says whose it is. */
static void ended(const void *request, const void *context, int error, const void *peer,
                  uint32_t bytes)
{
    if (!state.paths_in_use || !ix_measuring)
        return;
    ix_thread *t = ix_current();
    ix_inflight_lock(&state.messages);
    int cancelled = was_cancelled(request);
    ix_message *m = ix_inflight_find(&state.messages, (uintptr_t)context);
    if (m->id) {
        int64_t now = ix_now();
        if (cancelled) {
            ix_complete(t, m->token, now, 0, IX_SLACK_NONE, IX_SOURCE_POLL);
        } else if (error != PSM2_IS_OK || (m->kind == RECEIVE && !peer)) {
            ix_end_unknown(t, m->token);
        } else if (m->kind == SEND) {
            ix_complete(t, m->token, now, IX_AS_POSTED, IX_SLACK_TAIL, IX_SOURCE_POLL);
        } else {
            int path = path_of(peer);
            ix_moment end = ix_moment_at(t, now);
            ix_complete_then(t, m->token, &end, path == IX_PATH_SELF ? 0 : (int64_t)bytes, path,
                             IX_SLACK_HEAD, IX_SOURCE_POLL);
        }
        ix_inflight_forget(&state.messages, m);
    }
    ix_inflight_unlock(&state.messages);
}

static IX_COLD void find(void)
{
    *(void **)&psm2.send2 = ix_next_symbol("psm2_mq_send2");
    *(void **)&psm2.isend2 = ix_next_symbol("psm2_mq_isend2");
    *(void **)&psm2.irecv2 = ix_next_symbol("psm2_mq_irecv2");
    *(void **)&psm2.imrecv = ix_next_symbol("psm2_mq_imrecv");
    *(void **)&psm2.test = ix_next_symbol("psm2_mq_test");
    *(void **)&psm2.test2 = ix_next_symbol("psm2_mq_test2");
    *(void **)&psm2.cancel = ix_next_symbol("psm2_mq_cancel");
    state.passed = 1;
}

/* Straight on, unless somebody looks. */
#define PASS(member, ...)                                                                          \
    if (IX_UNLIKELY(!psm2.member))                                                                 \
        find();                                                                                    \
    if (IX_LIKELY(!psm2.looks))                                                                    \
        return psm2.member(__VA_ARGS__);

IX_EXPORT int psm2_mq_send2(void *queue, void *to, uint32_t flags, void *tag, const void *buffer,
                            uint32_t bytes)
{
    PASS(send2, queue, to, flags, tag, buffer, bytes)
    uint32_t token = begin_send(to, bytes, NULL);
    int error = psm2.send2(queue, to, flags, tag, buffer, bytes);
    if (token && ix_measuring)
        ix_complete(ix_current(), token, ix_now(), error == PSM2_IS_OK ? IX_AS_POSTED : 0,
                    IX_SLACK_TAIL, IX_SOURCE_POLL);
    return error;
}

IX_EXPORT int psm2_mq_isend2(void *queue, void *to, uint32_t flags, void *tag, const void *buffer,
                             uint32_t bytes, void *context, void **request)
{
    PASS(isend2, queue, to, flags, tag, buffer, bytes, context, request)
    uint32_t token = begin_send(to, bytes, context);
    return posted(psm2.isend2(queue, to, flags, tag, buffer, bytes, context, request), token,
                  context);
}

IX_EXPORT int psm2_mq_irecv2(void *queue, void *from, void *tag, void *tag_bits, uint32_t flags,
                             void *buffer, uint32_t bytes, void *context, void **request)
{
    PASS(irecv2, queue, from, tag, tag_bits, flags, buffer, bytes, context, request)
    uint32_t token = begin_receive(bytes, context);
    return posted(psm2.irecv2(queue, from, tag, tag_bits, flags, buffer, bytes, context, request),
                  token, context);
}

IX_EXPORT int psm2_mq_imrecv(void *queue, uint32_t flags, void *buffer, uint32_t bytes,
                             void *context, void **request)
{
    PASS(imrecv, queue, flags, buffer, bytes, context, request)
    uint32_t token = begin_receive(bytes, context);
    return posted(psm2.imrecv(queue, flags, buffer, bytes, context, request), token, context);
}

IX_EXPORT int psm2_mq_test2(void **request, tested2 *status)
{
    PASS(test2, request, status)
    const void *asked = *request;
    tested2 own, *told = status ? status : &own;
    int error = psm2.test2(request, told);
    if (error == PSM2_IS_OK && asked)
        ended(asked, told->context, told->error, told->peer, told->bytes);
    return error;
}

/* This form does not name the sender. Open MPI calls it for what it has cancelled. */
IX_EXPORT int psm2_mq_test(void **request, tested *status)
{
    PASS(test, request, status)
    const void *asked = *request;
    tested own, *told = status ? status : &own;
    int error = psm2.test(request, told);
    if (error == PSM2_IS_OK && asked)
        ended(asked, told->context, told->error, NULL, told->bytes);
    return error;
}

IX_EXPORT int psm2_mq_cancel(void **request)
{
    PASS(cancel, request)
    int error = psm2.cancel(request);
    if (error != PSM2_IS_OK || !state.paths_in_use)
        return error;
    ix_message mark = {.id = (uintptr_t)*request, .kind = CANCELLED};
    if (ix_inflight_add(&state.messages, ix_current(), mark))
        __atomic_fetch_add(&state.cancelled, 1, __ATOMIC_RELAXED);
    return error;
}

/* How many other ranks are reached over a path. */
static int ranks_over(int path)
{
    int count = 0;
    for (int i = 0; i < ix_world_size; i++)
        count += ix_world_paths[i] == path;
    return count;
}

static int probe(MPI_Comm all)
{
    (void)all;
    int near = ranks_over(IX_PATH_INTRA), far = ranks_over(IX_PATH_INTER);
    state.path = near && far ? IX_PATH_ANY : near ? IX_PATH_INTRA : IX_PATH_INTER;
    for (state.room = 2; state.room < 2 * (uint32_t)near; state.room *= 2)
        ;
    if (state.passed && state.path == IX_PATH_ANY)
        state.on_node = calloc(state.room, sizeof *state.on_node);
    return state.passed && (state.on_node || state.path != IX_PATH_ANY);
}

static void watch(ix_seen *seen)
{
    state.watching = seen;
    psm2.looks = state.watching || state.paths_in_use;
}

/* The address to which a message to this rank goes. */
static uint64_t address_of(MPI_Comm all, int rank)
{
    char out = 0, in;
    ix_seen seen = {0};
    watch(&seen);
    PMPI_Sendrecv(&out, 1, MPI_BYTE, rank, 0, &in, 1, MPI_BYTE, rank, 0, all, MPI_STATUS_IGNORE);
    watch(NULL);
    return seen.endpoint;
}

/* Addresses say nothing of nodes; so the ranks of this node are asked. In order of ranks: of all
 * pairs that still wait, the two of the first wait for each other. */
static void use(const ix_event_source *source, const ix_source_use *use)
{
    (void)source;
    for (int i = 0; i < ix_world_size; i++) {
        if (ix_world_paths[i] == IX_PATH_SELF) {
            state.self = address_of(use->all, i);
        } else if (ix_world_paths[i] == IX_PATH_INTRA && state.path == IX_PATH_ANY) {
            uint64_t address = address_of(use->all, i);
            *place_on_node(address) = address;
        }
    }
    state.is_data = use->is_data;
    state.paths_in_use = use->path_bits;
    psm2.looks = 1;
}

const ix_event_source ix_psm2_source = {.name = "psm2",
                                        .title = "PSM2",
                                        .absent =
                                            "this MPI does not use PSM2's matched queues here",
                                        .probe = probe,
                                        .watch = watch,
                                        .use = use,
                                        .events = {.name = "psm2"}};
#endif
