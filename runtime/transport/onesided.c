/* Puts and gets as a source inside the library posts them. What says that the buffer can be used
 * again does not say that the data has arrived; a flush does. So a transfer begins when it is
 * posted and is over when a flush behind it is complete, or at the latest when the MPI call returns
 * that closes its epoch. */
#ifndef IMBREX_DIRECT
#include "onesided.h"

#include <pthread.h>

#include "../mpi/job.h"

static uint8_t the_path;
static const uint8_t *is_one_sided;
static int in_use;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never contended but with threads */

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

ix_thread *ix_onesided_poster(void)
{
    if (!in_use || !ix_measuring)
        return NULL;
    ix_thread *t = ix_self;
    return t && t->depth && is_one_sided[t->operation] ? t : NULL;
}

void ix_onesided_posted(ix_thread *t, const void *endpoint, const void *worker, int64_t bytes,
                        int64_t time_ns)
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
    uint32_t token = open_count < ROOM ? ix_post(t, &x, time_ns, IX_SOURCE_CALLBACK) : 0;
    if (token) {
        if (!mine.first_order)
            mine.first_order = last_order + 1;
        open_ones[open_count++] = (posted){.order = ++last_order,
                                           .endpoint = endpoint,
                                           .worker = worker,
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

uint64_t ix_onesided_last(void)
{
    return in_use && ix_measuring && open_count ? last_order : 0;
}

void ix_onesided_flushed(const void *object, uint64_t last)
{
    if (!last || !ix_measuring)
        return;
    choice behind = {.which = BEHIND_FLUSH, .order = last, .object = object};
    end_chosen(&behind, IX_SLACK_NONE, IX_SOURCE_CALLBACK, 1);
}

/* ---- What the MPI calls say */

void ix_onesided_use(int path, const uint8_t *one_sided)
{
    the_path = (uint8_t)path;
    is_one_sided = one_sided;
    in_use = 1;
}

int ix_onesided_begun(ix_thread *t, uint64_t group, int32_t target, const ix_transfer *transfer)
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

void ix_onesided_closed(ix_thread *t, uint64_t group, int32_t target, int slack)
{
    if (!in_use || !t || !open_count)
        return;
    choice of_group = {.which = OF_GROUP, .group = group, .target = target};
    end_chosen(&of_group, (enum ix_slack)slack, IX_SOURCE_CALL, 1);
}

#endif
