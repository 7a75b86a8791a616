/* Who wants to know what happens in the wrappers: event sources inside the library, the recorder
 * and the guard, and whatever else looks at a measured job without the wrappers knowing it.
 *
 * An observer is one file with one `const ix_observer`, and one line in job/observers.def (an
 * event source: in transport/sources.def). Its members are NULL where
 * it has nothing to be told of; ix_observed says which of them anybody has, so that what nobody
 * wants costs a wrapper one branch that is always predicted.
 *
 *     static int started(const ix_job *job) { return getenv("IMBREX_PROGRESS") != NULL; }
 *     static void left(ix_thread *t) { ... t->last_ns is the exit, t->operation the function ... }
 *     const ix_observer ix_progress = {.name = "progress", .job_started = started, .call_left =
 * left};
 *
 * What is told of calls is told of outermost ones (user code's), by the thread that makes them and
 * while measuring; also while paused (t->muted). Observers neither fail nor print in a call, and
 * make no MPI call there but local PMPI ones. What a call has of a request or of one-sided
 * transfers is told after the library's function has succeeded and before the engine hears the
 * same. Begin and end of transfers are the engine's to tell (core/), messages with their peers and
 * tags the call log's (mpi/logging.h). */
#ifndef IMBREX_MPI_OBSERVERS_H
#define IMBREX_MPI_OBSERVERS_H

#include "core/engine.h"
#include "mpi/buffers.h"
#include "mpi/comms.h"

/* The job as it starts; valid until it ends. */
typedef struct ix_job {
    MPI_Comm all; /* a duplicate of MPI_COMM_WORLD on which nothing is measured; MPI_COMM_NULL in a
                   * program of sessions, where the ranks cannot talk */
    int rank, ranks;
    const char *directory; /* of the run, absolute */
    int measured;          /* this rank has a profile; others may have none */
} ix_job;

/* Calls that leave nothing open, while nothing is recorded. */
typedef struct ix_presence_observer {
    int (*entered)(void); /* whether to tell of the end too */
    void (*left)(void);
    const _Atomic int32_t *state;
    int32_t asleep; /* the state in which only a call that opens something is of interest */
} ix_presence_observer;

typedef struct ix_observer {
    const char *name;

    /* Of the job. Collective over job->all: every rank comes here, also unmeasured ones. */

    /* Before the program's first message. Whether to tell this observer of anything else. */
    int (*job_started)(const ix_job *job);
    /* Local; the program goes on now: what takes time must not stand here. */
    void (*measuring_begins)(void);
    /* MPI_Finalize was entered and measuring has stopped, MPI still works; the merge follows. Not
     * told where the program ends without it, nor in a program of sessions. */
    void (*job_ending)(const ix_job *job);

    /* Of calls. */

    /* Before the library's function: t->last_ns is the entry, t->operation and t->address say what
     * and where. After the engine has closed the call: t->last_ns is the exit. */
    void (*call_entered)(ix_thread *t);
    void (*call_left)(ix_thread *t);

    /* Of communicators. */

    /* One is used for the first time: before other threads can find it, and after. */
    void (*communicator_met)(ix_comm *c);
    void (*communicator_listed)(MPI_Comm comm, const ix_comm *c);
    void (*communicator_freed)(uint64_t handle);

    /* Of requests, for sources that live by what the calls tell. */

    /* A request was seen complete, and what it brought if it is a receive; `path` IX_AS_POSTED
     * where the post told it. */
    void (*request_completed)(ix_thread *t, uint64_t request, int64_t bytes, int path);
    /* A blocking receive is over. */
    void (*received)(ix_thread *t, const ix_transfer *transfer);
    /* Nobody will say how a request ends: freed or cancelled. */
    void (*request_lost)(ix_thread *t, uint64_t request);

    /* Of one-sided transfers. */

    /* Within the call that begins one: whether the observer has taken it, all its bytes; whether it
     * saw that it is over on both sides; that it has this request. And when those of a window and
     * target (or IX_ALL) are over. */
    int (*rma_begun)(ix_thread *t, uint64_t window, int32_t target, const ix_transfer *transfer);
    int (*rma_over)(ix_thread *t, const ix_transfer *transfer);
    void (*rma_requested)(ix_thread *t, uint64_t window, int32_t target,
                          const ix_transfer *transfer, uint64_t request);
    void (*rma_closed)(ix_thread *t, uint64_t window, int32_t target, int slack);

    /* Of memory: at most one observer has it. */
    const ix_buffer_observer *buffers;

    /* Of presence: at most one observer has it. */
    const ix_presence_observer *presence;
} ix_observer;

extern IX_HIDDEN const ix_presence_observer *ix_presence;

/* Add one, for good; also while other threads make calls. 0, or -1 where there is no room. */
IX_HIDDEN int ix_observe(const ix_observer *observer);

/* Which members anybody has. */
enum ix_tell {
    IX_TELL_CALLS = 1,    /* call_entered, call_left */
    IX_TELL_REQUESTS = 2, /* request_completed, received, request_lost */
    IX_TELL_RMA = 4,
    IX_TELL_BUFFERS = 8,
};
extern IX_HIDDEN int ix_observed;

/* The event source in use sees no persistent requests: their transfers stay with the calls. */
extern IX_HIDDEN int ix_persistent_unseen;

/* The wrappers tell by these. */

IX_HIDDEN IX_COLD ix_watched_call *ix_tell_entered(ix_thread *t, int polls);
IX_HIDDEN IX_COLD int ix_leave_and_tell(ix_thread *t, int rc);
IX_HIDDEN IX_COLD void ix_tell_completed(ix_thread *t, uint64_t request, int64_t bytes, int path);
IX_HIDDEN IX_COLD void ix_tell_received(ix_thread *t, const ix_transfer *transfer);
IX_HIDDEN IX_COLD void ix_tell_lost(ix_thread *t, uint64_t request);
IX_HIDDEN IX_COLD int ix_tell_rma_begun(ix_thread *t, uint64_t window, int32_t target,
                                        const ix_transfer *transfer);
IX_HIDDEN IX_COLD int ix_tell_rma_over(ix_thread *t, const ix_transfer *transfer);
IX_HIDDEN IX_COLD void ix_tell_rma_requested(ix_thread *t, uint64_t window, int32_t target,
                                             const ix_transfer *transfer, uint64_t request);
IX_HIDDEN IX_COLD void ix_tell_rma_closed(ix_thread *t, uint64_t window, int32_t target, int slack);

/* mpi/comms.c and job/ tell by these. */

IX_HIDDEN void ix_tell_communicator_met(ix_comm *c);
IX_HIDDEN void ix_tell_communicator_listed(MPI_Comm comm, const ix_comm *c);
IX_HIDDEN void ix_tell_communicator_freed(uint64_t handle);
IX_HIDDEN void ix_tell_measuring_begins(void);
IX_HIDDEN void ix_tell_job_ending(const ix_job *job);

static inline IX_ALWAYS int ix_is_told(enum ix_tell event)
{
    return IX_UNLIKELY(ix_observed & event);
}

/* An outermost call was entered; what the buffers' observer keeps of it, NULL if it does not. */
static inline IX_ALWAYS ix_watched_call *ix_observed_enter(ix_thread *t, int polls)
{
    return ix_is_told(IX_TELL_CALLS | IX_TELL_BUFFERS) && ix_outermost(t)
               ? ix_tell_entered(t, polls)
               : NULL;
}

/* Whether nobody wants to know of a call that neither opens nor completes what needs progress. In a
 * process whose threads call at the same time another thread may open something meanwhile. */
static inline IX_ALWAYS int ix_presence_sleeps(void)
{
    const ix_presence_observer *p = ix_presence;
    return p && atomic_load_explicit(p->state, memory_order_relaxed) == p->asleep &&
           !ix_share.concurrent;
}

/* The end of a call in a wrapper, which returns `rc`. */
static inline IX_ALWAYS int ix_observed_leave(ix_thread *t, int rc)
{
    return ix_is_told(IX_TELL_CALLS) ? ix_leave_and_tell(t, rc) : ix_leave_with(t, rc);
}

#endif
