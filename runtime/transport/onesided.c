/* Puts and gets as a source inside the library posts them. What says that the buffer can be used
 * again does not say that the data has arrived; a flush does. So a transfer begins when it is
 * posted and is over when a flush behind it is complete, or at the latest when the MPI call returns
 * that closes its epoch. */
#ifndef IMBREX_DIRECT
#include "transport/onesided.h"

#include <pthread.h>
#include <string.h>

#include "base/measuring.h"

enum { ROOM = 1024 }; /* fewer than the table of open transfers has, so that others find room */

typedef struct posted {
    const ix_thread *thread;
    uint64_t group; /* of the window, once the MPI call has said which */
    uint64_t order;
    const void *endpoint, *worker;
    int64_t bytes;
    int64_t over_ns; /* it was over before the MPI call has said anything; else 0 */
    int32_t target;
    uint32_t token;            /* 0: the transfer is that of a request, */
    uint64_t handle, sequence; /* this one */
} posted;

/* All that this source keeps between calls. */
static struct {
    uint8_t path;
    const uint8_t *forms;
    int in_use;
    pthread_mutex_t lock; /* never contended but with threads */
    posted posted[ROOM];
    uint32_t open_count;
    uint64_t last_order;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the MPI call in progress has posted. */
static __thread struct {
    uint64_t call;   /* how many calls of this thread came before */
    int64_t kind[3]; /* bytes, by enum ix_onesided_kind */
    int64_t tokens;  /* bytes that have a token */
    int at_several;  /* through several endpoints, or not all sizes are known */
    int open;        /* not all of it is flushed */
    uint64_t first_order, last_order;
    const void *endpoint, *worker;
} mine;

static uint64_t call_number(const ix_thread *t)
{
    return (uint64_t)t->part->calls + 1;
}

static int is_mine(const ix_thread *t)
{
    return state.in_use && t && mine.call == call_number(t);
}

ix_thread *ix_onesided_poster(void)
{
    if (!state.in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && ix_depth(t) && state.forms[t->operation] ? t : NULL;
}

/* With the lock held. The times are those of one-sided operations: of the MPI call in progress. */
static void post_piece(ix_thread *t, const posted *p, int64_t time_ns)
{
    ix_transfer x = {.bytes = p->bytes,
                     .path = state.path,
                     .slack = IX_SLACK_NONE,
                     .flags = IX_UP_TO | IX_COLLECTIVE,
                     .ranks = 2};
    uint32_t token = state.open_count < ROOM ? ix_post(t, &x, time_ns, IX_SOURCE_CALLBACK) : 0;
    if (!token)
        return;
    posted *kept = &state.posted[state.open_count++];
    *kept = *p;
    kept->token = token;
    mine.tokens += p->bytes;
}

int ix_onesided_posted(ix_thread *t, enum ix_onesided_kind kind, const void *endpoint,
                       const void *worker, int64_t bytes, int64_t time_ns)
{
    if (mine.call != call_number(t)) {
        memset(&mine, 0, sizeof mine);
        mine.call = call_number(t);
    }
    int pieces = state.forms[t->operation] == IX_PIECES || kind == IX_AN_ATOMIC;
    pthread_mutex_lock(&state.lock);
    posted p = {.thread = t,
                .order = ++state.last_order,
                .endpoint = endpoint,
                .worker = worker,
                .bytes = bytes};
    if (pieces && bytes > 0)
        post_piece(t, &p, time_ns);
    pthread_mutex_unlock(&state.lock);
    if (!mine.first_order)
        mine.first_order = p.order;
    mine.last_order = p.order;
    mine.at_several |= bytes < 0 || (mine.endpoint && mine.endpoint != endpoint);
    mine.endpoint = endpoint;
    mine.worker = worker;
    mine.kind[kind] += bytes;
    mine.open = 1;
    return 1;
}

enum which { BEHIND_FLUSH, OF_GROUP };

typedef struct choice {
    enum which which;
    uint64_t order;     /* BEHIND_FLUSH: the last that it is behind */
    const void *object; /* BEHIND_FLUSH: the endpoint or the worker */
    uint64_t group;
    int32_t target;
    int requests; /* also what has a request: it is over on both sides */
} choice;

static int is_chosen(const posted *p, const choice *c)
{
    if (p->over_ns || (!p->token && !c->requests))
        return 0;
    switch (c->which) {
    case BEHIND_FLUSH:
        return p->order <= c->order && (c->object == p->endpoint || c->object == p->worker);
    default:
        return p->group == c->group && (c->target == IX_ALL || c->target == p->target);
    }
}

/* Posted by the call of this thread that is in progress and has not said what it is. */
static int is_unsaid(const ix_thread *t, const posted *p)
{
    return p->token && p->thread == t && is_mine(t) && mine.first_order &&
           p->order >= mine.first_order;
}

static void end_chosen(const choice *c, enum ix_slack slack, enum ix_source source)
{
    int64_t now = ix_now();
    ix_thread *t = ix_current();
    pthread_mutex_lock(&state.lock);
    for (uint32_t i = 0; i < state.open_count;) {
        posted *p = &state.posted[i];
        if (!is_chosen(p, c)) {
            i++;
        } else if (is_unsaid(t, p)) {
            p->over_ns = now;
            i++;
        } else {
            if (p->token)
                ix_complete(t, p->token, now, p->bytes, slack, source);
            else
                ix_finish_early(t, p->handle, p->sequence, now);
            *p = state.posted[--state.open_count];
        }
    }
    pthread_mutex_unlock(&state.lock);
}

uint64_t ix_onesided_last(void)
{
    return state.in_use && ix_measuring && (state.open_count || mine.open) ? state.last_order : 0;
}

void ix_onesided_flushed(const void *object, uint64_t last)
{
    if (!last || !ix_measuring)
        return;
    if (mine.open && last >= mine.last_order && (object == mine.endpoint || object == mine.worker))
        mine.open = 0;
    choice behind = {.which = BEHIND_FLUSH, .order = last, .object = object, .requests = 1};
    end_chosen(&behind, IX_SLACK_NONE, IX_SOURCE_CALLBACK);
}

int ix_onesided_waits(const void *endpoint, uint64_t last)
{
    int found = 0;
    pthread_mutex_lock(&state.lock);
    for (uint32_t i = 0; i < state.open_count && !found; i++)
        found = state.posted[i].endpoint == endpoint && state.posted[i].order > last;
    pthread_mutex_unlock(&state.lock);
    return found;
}

void ix_onesided_use(int path, const uint8_t *forms_of)
{
    state.path = (uint8_t)path;
    state.forms = forms_of;
    state.in_use = 1;
}

/* What this call has posted in pieces: it stands for the transfer, or that of the MPI call does. */
static void say(ix_thread *t, uint64_t group, int32_t target, int stand)
{
    pthread_mutex_lock(&state.lock);
    for (uint32_t i = 0; i < state.open_count;) {
        posted *p = &state.posted[i];
        if (!is_unsaid(t, p)) {
            i++;
        } else if (stand && !p->over_ns) {
            p->group = group;
            p->target = target;
            i++;
        } else { /* over; or as having moved nothing: the MPI call's own transfer counts */
            int64_t over_ns = p->over_ns ? p->over_ns : ix_now();
            ix_complete(t, p->token, over_ns, stand ? p->bytes : 0, IX_SLACK_NONE,
                        IX_SOURCE_CALLBACK);
            *p = state.posted[--state.open_count];
        }
    }
    pthread_mutex_unlock(&state.lock);
    mine.first_order = 0;
}

int ix_onesided_begun(ix_thread *t, uint64_t group, int32_t target, const ix_transfer *transfer)
{
    if (!is_mine(t) || !mine.tokens)
        return 0;
    int stand = mine.tokens == transfer->bytes && transfer->path == state.path;
    say(t, group, target, stand);
    return stand;
}

/* Whether what this call posted is all of a transfer. */
static int is_all(const ix_thread *t, const ix_transfer *transfer)
{
    int64_t put = mine.kind[IX_A_PUT], got = mine.kind[IX_A_GET], all = transfer->bytes;
    if (!mine.last_order || mine.at_several || all <= 0 || transfer->path != state.path)
        return 0;
    switch (state.forms[t->operation]) {
    case IX_GETS:
        return got >= all && (!put || put >= all);
    case IX_PUTS:
        return put >= all;
    default: /* more pieces than there is room for */
        return put + got == all;
    }
}

int ix_onesided_over(ix_thread *t, const ix_transfer *transfer)
{
    if (!is_mine(t))
        return 0;
    if (mine.tokens && mine.first_order) /* nobody asked: it has a request */
        say(t, 0, 0, 0);
    return !mine.open && is_all(t, transfer);
}

void ix_onesided_requested(ix_thread *t, uint64_t group, int32_t target,
                           const ix_transfer *transfer, uint64_t handle)
{
    uint64_t sequence = is_mine(t) && is_all(t, transfer) ? ix_sequence_of(t, handle) : 0;
    mine.open = 0;
    if (!sequence || !mine.worker) /* no flush will tell */
        return;
    pthread_mutex_lock(&state.lock);
    if (state.open_count < ROOM)
        state.posted[state.open_count++] = (posted){.thread = t,
                                                    .group = group,
                                                    .order = mine.last_order,
                                                    .endpoint = mine.endpoint,
                                                    .worker = mine.worker,
                                                    .target = target,
                                                    .handle = handle,
                                                    .sequence = sequence};
    pthread_mutex_unlock(&state.lock);
}

void ix_onesided_closed(ix_thread *t, uint64_t group, int32_t target, int slack)
{
    if (!state.in_use || !t || !state.open_count)
        return;
    choice of_group = {
        .which = OF_GROUP, .group = group, .target = target, .requests = slack == IX_SLACK_NONE};
    end_chosen(&of_group, (enum ix_slack)slack, IX_SOURCE_CALL);
}

#endif
