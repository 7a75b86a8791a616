#include "mpi/observers.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST = 12 };

int ix_observed;
int ix_persistent_unseen;
const ix_buffer_observer *ix_buffers;
const ix_presence_observer *ix_presence;

static struct {
    const ix_observer *list[MOST];
    _Atomic int count;
    pthread_mutex_t adding;
} observers = {.adding = PTHREAD_MUTEX_INITIALIZER};

static int wanted_by(const ix_observer *o)
{
    int told = 0;
    if (o->call_entered || o->call_left)
        told |= IX_TELL_CALLS;
    if (o->request_completed || o->received || o->request_lost)
        told |= IX_TELL_REQUESTS;
    if (o->rma_begun || o->rma_over || o->rma_requested || o->rma_closed)
        told |= IX_TELL_RMA;
    if (o->buffers)
        told |= IX_TELL_BUFFERS;
    return told;
}

int ix_observe(const ix_observer *observer)
{
    pthread_mutex_lock(&observers.adding);
    int place = atomic_load(&observers.count), full = place == MOST;
    for (int i = 0; i < place; i++)
        if (observers.list[i] == observer)
            place = MOST; /* it is there */
    if (place < MOST) {
        observers.list[place] = observer;
        atomic_store(&observers.count, place + 1);
    }
    if (!full) {
        if (observer->buffers)
            ix_buffers = observer->buffers;
        if (observer->presence)
            ix_presence = observer->presence;
        __atomic_fetch_or(&ix_observed, wanted_by(observer), __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&observers.adding);
    return full ? -1 : 0;
}

/* For each observer `o` that has this member. */
#define EACH(o, member)                                                                            \
    for (int i = 0, n = atomic_load_explicit(&observers.count, memory_order_acquire); i < n; i++)  \
        for (const ix_observer *o = observers.list[i]; o && o->member; o = NULL)

ix_watched_call *ix_tell_entered(ix_thread *t, int polls)
{
    EACH(o, call_entered)
    o->call_entered(t);
    return ix_observed & IX_TELL_BUFFERS ? ix_buffers->enter(t, polls) : NULL;
}

int ix_leave_and_tell(ix_thread *t, int rc)
{
    int outermost = ix_outermost(t);
    ix_leave(t);
    if (outermost)
        EACH(o, call_left)
    o->call_left(t);
    return rc;
}

void ix_tell_completed(ix_thread *t, uint64_t request, int64_t bytes, int path)
{
    EACH(o, request_completed)
    o->request_completed(t, request, bytes, path);
}

void ix_tell_received(ix_thread *t, const ix_transfer *transfer)
{
    EACH(o, received)
    o->received(t, transfer);
}

void ix_tell_lost(ix_thread *t, uint64_t request)
{
    EACH(o, request_lost)
    o->request_lost(t, request);
}

int ix_tell_rma_begun(ix_thread *t, uint64_t window, int32_t target, const ix_transfer *transfer)
{
    int taken = 0;
    EACH(o, rma_begun)
    taken |= o->rma_begun(t, window, target, transfer);
    return taken;
}

int ix_tell_rma_over(ix_thread *t, const ix_transfer *transfer)
{
    int over = 0;
    EACH(o, rma_over)
    over |= o->rma_over(t, transfer);
    return over;
}

void ix_tell_rma_requested(ix_thread *t, uint64_t window, int32_t target,
                           const ix_transfer *transfer, uint64_t request)
{
    EACH(o, rma_requested)
    o->rma_requested(t, window, target, transfer, request);
}

void ix_tell_rma_closed(ix_thread *t, uint64_t window, int32_t target, int slack)
{
    EACH(o, rma_closed)
    o->rma_closed(t, window, target, slack);
}

void ix_tell_communicator_met(ix_comm *c)
{
    EACH(o, communicator_met)
    o->communicator_met(c);
}

void ix_tell_communicator_listed(MPI_Comm comm, const ix_comm *c)
{
    EACH(o, communicator_listed)
    o->communicator_listed(comm, c);
}

void ix_tell_communicator_freed(uint64_t handle)
{
    EACH(o, communicator_freed)
    o->communicator_freed(handle);
}

void ix_tell_measuring_begins(void)
{
    EACH(o, measuring_begins)
    o->measuring_begins();
}

void ix_tell_job_ending(const ix_job *job)
{
    EACH(o, job_ending)
    o->job_ending(job);
}
