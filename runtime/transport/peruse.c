/* PERUSE names a request by a number which in Open MPI is its handle; so the call that completes a
 * receive says how much it brought, and the events when. */
#ifndef IMBREX_DIRECT
#include "transport/event_source.h"

#include <string.h>

#include "base/measuring.h"
#include "base/symbols.h"
#include "generated/operations.h"
#include "mpi/arguments.h"
#include "transport/inflight.h"

/* The interface in its version 2.0, declared here so that its header need not be installed. */

typedef struct specification {
    MPI_Comm comm;
    void *buffer;
    int count;
    MPI_Datatype datatype;
    int peer, tag, operation;
} specification;

enum { SEND = 0 }; /* of specification.operation */
enum { SUCCESS = 0 };

typedef int (*callback)(void *event, MPI_Aint id, specification *spec, void *data);

static struct {
    int (*init)(void);
    int (*query_event)(const char *name, int *event);
    int (*comm_register)(int event, MPI_Comm comm, callback function, void *data, void **handle);
    int (*activate)(void *handle);
} peruse;

enum { ACTIVATE, BEGIN, END, EVENTS };

/* The size of a RECEIVE is told by a call; what the library receives for itself is of the size
 * that it posts. */
enum kind { SENT, SENT_BUFFERED, RECEIVE, RECEIVE_EXACT };

/* All that this source keeps between calls. */
static struct {
    int numbers[EVENTS];
    ix_seen *watching;
    uint32_t paths_in_use;
    const uint8_t *is_data;
    uint8_t plans[IX_OP_COUNT]; /* makes or starts a persistent request: left to the calls */
    uint8_t buffers[IX_OP_COUNT];
    ix_inflight messages;
} state = {.messages = {.busy = ATOMIC_FLAG_INIT}};

/* The receive that a blocking call has posted. */
static __thread struct {
    uint64_t call; /* how many calls of this thread came before */
    uint64_t id;
} receiving;

static uint64_t call_number(const ix_thread *t)
{
    return (uint64_t)t->part->calls + 1;
}

/* The thread, if what it posts now is user data of the program's. */
static ix_thread *poster(void)
{
    if (!state.paths_in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && ix_depth(t) && state.is_data[t->operation] ? t : NULL;
}

/* Collectives use tags that no program can. */
static int is_the_programs(const specification *spec)
{
    return spec->tag >= 0 || spec->tag == MPI_ANY_TAG;
}

static enum kind kind_of(const ix_thread *t, const specification *spec)
{
    if (spec->operation == SEND)
        return state.buffers[t->operation] ? SENT_BUFFERED : SENT;
    return is_the_programs(spec) ? RECEIVE : RECEIVE_EXACT;
}

static void mark(ix_comm *c, int unseen)
{
    for (int i = 0; i < c->peers; i++)
        c->paths[i] = (uint8_t)((c->paths[i] & ~IX_PATH_UNSEEN) | unseen);
    c->path = (uint8_t)((c->path & ~IX_PATH_UNSEEN) | unseen);
}

/* The call has begun to send or receive. (The begin of a send's transfer itself is told when the
 * first piece has left, which is too late.) */
static int activated(void *event, MPI_Aint id, specification *spec, void *data)
{
    (void)event, (void)data;
    ix_comm *c = ix_comm_known(spec->comm); /* not any more if it was freed meanwhile */
    int64_t bytes = spec->count * ix_type_bytes(spec->datatype);
    if (state.watching) {
        state.watching->sends += spec->operation == SEND;
        *(spec->operation == SEND ? &state.watching->sent : &state.watching->received) += bytes;
    }
    if (c && IX_UNLIKELY(c->path & IX_PATH_UNSEEN))
        mark(c, 0);
    ix_thread *t = c ? poster() : NULL;
    if (!t || (state.plans[t->operation] && is_the_programs(spec)))
        return SUCCESS;
    enum kind kind = kind_of(t, spec);
    int path = spec->peer == MPI_ANY_SOURCE ? IX_PATH_ANY : ix_path_in(c, spec->peer);
    ix_transfer x = ix_moved(bytes, path, kind >= RECEIVE ? IX_SLACK_HEAD : IX_SLACK_TAIL);
    if (x.path != IX_PATH_ANY && !(state.paths_in_use >> x.path & 1))
        return SUCCESS;
    if (kind >= RECEIVE)
        x.flags |= IX_UP_TO;
    uint32_t token = ix_post(t, &x, ix_now(), IX_SOURCE_CALLBACK);
    if (!token)
        return SUCCESS;
    ix_message message = {
        .id = (uint64_t)id, .bytes = bytes, .token = token, .kind = (uint8_t)kind};
    ix_inflight_add(&state.messages, t, message);
    if (kind == RECEIVE) {
        receiving.call = call_number(t);
        receiving.id = (uint64_t)id;
    }
    return SUCCESS;
}

/* A receive has found its message: of that no more came before than before one posted late. */
static int begun(void *event, MPI_Aint id, specification *spec, void *data)
{
    (void)event, (void)data;
    if (spec->operation == SEND || !ix_measuring || !state.paths_in_use)
        return SUCCESS;
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, (uint64_t)id);
    if (m->id && !m->ended)
        ix_begin_later(ix_current(), m->token, ix_now());
    ix_inflight_unlock(&state.messages);
    return SUCCESS;
}

static int ended(void *event, MPI_Aint id, specification *spec, void *data)
{
    (void)event, (void)spec, (void)data;
    if (!ix_measuring || !state.paths_in_use)
        return SUCCESS;
    ix_thread *t = ix_current();
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, (uint64_t)id);
    if (m->id && m->kind == RECEIVE && !m->ended) {
        m->end = ix_moment_at(t, ix_now());
        m->ended = 1;
    } else if (m->id && m->kind != RECEIVE) {
        ix_complete(t, m->token, ix_now(), m->bytes,
                    m->kind == RECEIVE_EXACT ? IX_SLACK_HEAD : IX_SLACK_TAIL, IX_SOURCE_CALLBACK);
        ix_inflight_forget(&state.messages, m);
    }
    ix_inflight_unlock(&state.messages);
    return SUCCESS;
}

static void completed(ix_thread *t, uint64_t id, int64_t bytes, int path)
{
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, id);
    if (m->id && m->kind == RECEIVE) {
        if (!m->ended)
            m->end = ix_moment_at(t, ix_now());
        ix_complete_then(t, m->token, &m->end, bytes, path, IX_SLACK_HEAD, IX_SOURCE_CALLBACK);
        ix_inflight_forget(&state.messages, m);
    } else if (m->id && m->kind == SENT) { /* its last piece is still on its way */
        ix_complete(t, m->token, ix_now(), IX_AS_POSTED, IX_SLACK_TAIL, IX_SOURCE_POLL);
        ix_inflight_forget(&state.messages, m);
    }
    ix_inflight_unlock(&state.messages);
}

static void request_completed(ix_thread *t, uint64_t request, int64_t bytes, int path)
{
    if (t && ix_depth(t))
        completed(t, request, bytes, path);
}

static void received(ix_thread *t, const ix_transfer *transfer)
{
    if (t && ix_depth(t) && receiving.id && receiving.call == call_number(t))
        completed(t, receiving.id, transfer->bytes, transfer->path);
    receiving.id = 0;
}

static void request_lost(ix_thread *t, uint64_t request)
{
    if (!t || !ix_depth(t))
        return;
    ix_inflight_lock(&state.messages);
    ix_message *m = ix_inflight_find(&state.messages, request);
    if (m->id) {
        ix_end_unknown(t, m->token);
        ix_inflight_forget(&state.messages, m);
    }
    ix_inflight_unlock(&state.messages);
}

static int listen_on(MPI_Comm comm)
{
    static const callback functions[EVENTS] = {activated, begun, ended};
    for (int i = 0; i < EVENTS; i++) {
        void *handle = NULL;
        if (peruse.comm_register(state.numbers[i], comm, functions[i], NULL, &handle) != SUCCESS ||
            peruse.activate(handle) != SUCCESS)
            return 0;
    }
    return 1;
}

static int probe(MPI_Comm all)
{
    static const char *const names[EVENTS] = {
        "PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_REQ_XFER_BEGIN", "PERUSE_COMM_REQ_XFER_END"};
    *(void **)&peruse.init = ix_next_symbol("PERUSE_Init");
    *(void **)&peruse.query_event = ix_next_symbol("PERUSE_Query_event");
    *(void **)&peruse.comm_register = ix_next_symbol("PERUSE_Event_comm_register");
    *(void **)&peruse.activate = ix_next_symbol("PERUSE_Event_activate");
    if (!peruse.init || !peruse.query_event || !peruse.comm_register || !peruse.activate ||
        peruse.init() != SUCCESS)
        return 0;
    for (int i = 0; i < EVENTS; i++)
        if (peruse.query_event(names[i], &state.numbers[i]) != SUCCESS)
            return 0;
    return listen_on(all);
}

static void watch(ix_seen *seen)
{
    state.watching = seen;
}

static void communicator_met(ix_comm *c)
{
    if (state.paths_in_use)
        mark(c, IX_PATH_UNSEEN);
}

static void communicator_listed(MPI_Comm comm, const ix_comm *c)
{
    /* collectives between groups use communicators of the library's own */
    if (state.paths_in_use && !c->inter)
        listen_on(comm);
}

static void use(const ix_event_source *source, const ix_source_use *use)
{
    (void)source;
    for (int i = 0; i < IX_OP_COUNT; i++) {
        const char *name = ix_operation_names[i], *end = strrchr(name, '_');
        state.plans[i] = !strncmp(name, "MPI_Start", 9) || (end && !strcmp(end, "_init"));
        state.buffers[i] = !strncmp(name, "MPI_Bsend", 9) || !strncmp(name, "MPI_Ibsend", 10);
    }
    state.is_data = use->is_data;
    state.paths_in_use = use->path_bits;
    ix_persistent_unseen = 1;
    int met = ix_comm_known(MPI_COMM_WORLD) != NULL; /* before this source was told of it */
    ix_comm *world = ix_comm_of(MPI_COMM_WORLD);
    if (met)
        communicator_listed(MPI_COMM_WORLD, world);
    if (world)
        mark(world, 0);
}

const ix_event_source ix_peruse_source = {.name = "peruse",
                                          .title = "PERUSE",
                                          .absent = "this MPI is built without PERUSE",
                                          .probe = probe,
                                          .watch = watch,
                                          .use = use,
                                          .events = {.name = "peruse",
                                                     .communicator_met = communicator_met,
                                                     .communicator_listed = communicator_listed,
                                                     .request_completed = request_completed,
                                                     .received = received,
                                                     .request_lost = request_lost}};

#endif
