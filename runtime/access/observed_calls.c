#include "access/observed_calls.h"

#include <pthread.h>
#include <stdlib.h>

#include "access/observer.h"
#include "access/phases.h"
#include "access/sample.h"
#include "access/timeline.h"
#include "access/trace.h"
#include "mpi/request_handles.h"

/* The call in progress. */
struct ix_watched_call {
    int on, polls;
    ixa_timeline_t *timeline; /* of the thread, where recording */
    const void *site;
    uint32_t operation;
    int buffers;
    ix_buffer buffer[IXA_BUFFERS];
    ixa_receive_t receive[IXA_BUFFERS];
    uint64_t sum[IXA_BUFFERS];
    const void *packed; /* of MPI_Pack and MPI_Unpack: where the packed data are */
};

/* MPI calls of several threads take turns here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ixa_take_turn(void)
{
    pthread_mutex_lock(&lock);
}

void ixa_end_turn(void)
{
    pthread_mutex_unlock(&lock);
}

/* The thread's turn: its timeline is the one that counts. */
static void take_turn(const ix_watched_call *call)
{
    ixa_take_turn();
    if (call->timeline)
        ixa_timeline = call->timeline;
}

static int is_on(const ix_watched_call *call, int purpose)
{
    return call->on & purpose & ixa_observed;
}

/* An interval of computation ends with the call. */
static void end_interval(const ix_watched_call *call, int64_t compute_ns)
{
    ixa_times_enter(compute_ns, call->operation, call->site);
    if (ixa_mode == IXA_RECORD && ixa_timeline->number == 0 &&
        ixa_sample_ends(ixa_timeline->intervals))
        ixa_end_recording();
    if (ixa_timeline->number == 0)
        ixa_phases_next();
}

static ix_watched_call *enter(const ix_thread *t, int polls)
{
    static __thread ix_watched_call the_call; /* of user code, so that a thread has one at a time */
    ix_watched_call *call = &the_call;
    *call = (ix_watched_call){.on = IXA_GUARDS | IXA_ANNOTATED,
                              .polls = polls,
                              .site = ixa_place_of(t->address),
                              .operation = t->operation};
    if (ixa_observed & IXA_RECORDS) {
        ixa_take_turn();
        call->timeline = ixa_timeline_of(t);
        ixa_end_turn();
    }
    if (call->timeline)
        call->on |= IXA_RECORDS;
    call->on &= ixa_observed;
    take_turn(call);
    if (is_on(call, IXA_RECORDS) && !polls)
        end_interval(call, t->compute_ns);
    call->on &= ixa_observed;
    ixa_end_turn();
    return call->on ? call : NULL;
}

static void among(const ix_watched_call *call, const ix_comm *c)
{
    take_turn(call);
    if (is_on(call, IXA_RECORDS) && ixa_timeline->number == 0)
        ixa_trace_group(c);
    ixa_end_turn();
}

static int is_empty(const ix_buffer *buffer)
{
    return buffer->blocks == 0 && buffer->count <= 0;
}

static void add(ix_watched_call *call, const ix_buffer *buffer)
{
    if (ixa_phases && is_on(call, IXA_RECORDS)) {
        take_turn(call);
        ixa_times_moves((uintptr_t)buffer->address ^ (uint64_t)(uint32_t)buffer->tag << 40);
        ixa_end_turn();
    }
    /* A message without data is one that somebody waits for, too. */
    if (buffer->peer == MPI_PROC_NULL || call->buffers == IXA_BUFFERS ||
        (is_empty(buffer) && (buffer->collective || buffer->one_sided)))
        return;
    call->buffer[call->buffers++] = *buffer;
}

static void packing(ix_watched_call *call, const ix_buffer *buffer, const void *packed)
{
    add(call, buffer);
    call->packed = packed;
}

static ixa_receive_t before(const ix_watched_call *call, const ix_buffer *buffer)
{
    ixa_receive_t receive = {0};
    if (is_on(call, IXA_GUARDS))
        ixa_guard_check(call->site, call->operation, buffer);
    if (is_on(call, IXA_ANNOTATED) && !buffer->is_receive && !is_empty(buffer))
        ixa_regions_send(call->site, call->operation, buffer, ix_self->compute_ns);
    if (is_on(call, IXA_RECORDS) && !buffer->one_sided) {
        if (buffer->is_receive)
            receive = ixa_post(call->site, call->operation, buffer);
        else
            ixa_send(call->site, call->operation, buffer);
    }
    return receive;
}

static void before_call(ix_watched_call *call)
{
    take_turn(call);
    for (int k = 0; k < call->buffers; k++) {
        call->receive[k] = before(call, &call->buffer[k]);
        if (is_on(call, IXA_GUARDS))
            call->sum[k] = ixa_guard_sum(&call->buffer[k]);
    }
    ixa_end_turn();
}

static void open_buffer(ixa_open *open, const ix_watched_call *call, int k, const ix_buffer *buffer,
                        ixa_receive_t receive, uint64_t sum)
{
    open->receive[k] = receive;
    if (is_on(call, IXA_ANNOTATED) && buffer->is_receive)
        open->span[k] = ixa_span_of(buffer);
    if (is_on(call, IXA_GUARDS) && !buffer->in_place)
        open->held[k] = ixa_guard_hold(call->site, call->operation, buffer, sum);
}

static void starting(ix_watched_call *call, int count, const MPI_Request *requests,
                     const void *where, size_t step)
{
    take_turn(call);
    for (int i = 0; i < count; i++) {
        const ixa_plan *plan = ixa_plan_of(ix_handle(requests[i]));
        ixa_open *open =
            plan ? ixa_open_new(ix_handle(requests[i]), (const char *)where + (size_t)i * step, 0)
                 : NULL;
        for (int k = 0; open && k < plan->buffers; k++) {
            const ix_buffer *buffer = &plan->buffer[k];
            ixa_receive_t receive = before(call, buffer);
            uint64_t sum = is_on(call, IXA_GUARDS) ? ixa_guard_sum(buffer) : 0;
            open_buffer(open, call, k, buffer, receive, sum);
        }
    }
    ixa_end_turn();
}

static void leave(ix_watched_call *call, int found)
{
    if (!is_on(call, IXA_RECORDS))
        return;
    if (found)
        ixa_times_exit();
    else
        ixa_times_in_vain(ix_self);
}

void ixa_end_open(ixa_open *open, enum ixa_ending ending)
{
    while (open) {
        ixa_open *next = open->next;
        for (int k = 0; k < IXA_BUFFERS; k++) {
            if (ending == IXA_COMPLETE)
                ixa_arrived(open->receive[k]);
            if (ending == IXA_COMPLETE && open->span[k].high)
                ixa_regions_arrival(open->span[k], ix_self->compute_ns);
            ixa_guard_release(open->held[k], ending);
        }
        free(open);
        open = next;
    }
}

static void done(ix_watched_call *call, const MPI_Status *status)
{
    take_turn(call);
    for (int k = 0; k < call->buffers; k++) {
        if (status)
            call->receive[k] = ixa_taken(call->receive[k], status->MPI_SOURCE, status->MPI_TAG);
        ixa_arrived(call->receive[k]);
        if (is_on(call, IXA_ANNOTATED) && call->buffer[k].is_receive && !is_empty(&call->buffer[k]))
            ixa_regions_arrival(ixa_span_of(&call->buffer[k]), ix_self->compute_ns);
    }
    leave(call, 1);
    ixa_end_turn();
}

static void begun(ix_watched_call *call, uint64_t handle, const void *where, int target)
{
    take_turn(call);
    ixa_open *open = call->buffers ? ixa_open_new(handle, where, target) : NULL;
    for (int k = 0; open && k < call->buffers; k++)
        open_buffer(open, call, k, &call->buffer[k], call->receive[k], call->sum[k]);
    leave(call, 1);
    ixa_end_turn();
}

static void begun_request(ix_watched_call *call, MPI_Request request, const void *where)
{
    begun(call, ix_handle(request), where, 0);
}

static void begun_on(ix_watched_call *call, MPI_Win window, int target)
{
    begun(call, ix_handle(window), NULL, target);
}

static void planned(ix_watched_call *call, MPI_Request request)
{
    take_turn(call);
    ixa_plan_add(ix_handle(request), call->buffer, call->buffers);
    leave(call, 1);
    ixa_end_turn();
}

/* Whether any of them had a transfer under way. How often a program asks about requests that have
 * none (any more) differs from run to run. */
static int are_open(int count, const MPI_Request *requests, const int *indices)
{
    for (int i = 0; i < count; i++) {
        int k = indices ? indices[i] : i;
        if (k >= 0 && requests[k] != MPI_REQUEST_NULL && ixa_open_is(ix_handle(requests[k])))
            return 1;
    }
    return 0;
}

/* What a request took. Of several with its handle it is not known whose the status is. */
static void take_from(ixa_open *open, const MPI_Status *status)
{
    for (int k = 0; open && !open->next && k < (ix_pair_status_works ? IXA_BUFFERS : 1); k++)
        open->receive[k] = ixa_taken(open->receive[k], status->MPI_SOURCE, status->MPI_TAG);
}

static void complete(ix_watched_call *call, int found, int count, const MPI_Request *requests,
                     const void *where, size_t step, const int *indices, const MPI_Status *statuses)
{
    take_turn(call);
    found = found && (!call->polls || are_open(count, requests, indices));
    if (call->polls && found && is_on(call, IXA_RECORDS))
        end_interval(call, ix_self->compute_ns);
    for (int i = 0; found && i < count; i++) {
        int k = indices ? indices[i] : i;
        if (k < 0 || requests[k] == MPI_REQUEST_NULL)
            continue;
        ixa_open *open =
            ixa_open_take(ix_handle(requests[k]), (const char *)where + (size_t)k * step);
        if (statuses)
            take_from(open, &statuses[i]);
        ixa_end_open(open, IXA_COMPLETE);
    }
    leave(call, found);
    ixa_end_turn();
}

static void complete_on(ix_watched_call *call, MPI_Win window, int target)
{
    take_turn(call);
    ixa_end_open(ixa_open_take_window(ix_handle(window), target), IXA_COMPLETE);
    leave(call, 1);
    ixa_end_turn();
}

static void seen(ix_watched_call *call, int count, const MPI_Request *requests, const int *indices)
{
    take_turn(call);
    for (int i = 0; i < count; i++) {
        ixa_open *open = ixa_open_find(ix_handle(requests[indices ? indices[i] : i]));
        for (int k = 0; open && k < IXA_BUFFERS; k++) {
            ixa_guard_release(open->held[k], IXA_COMPLETE);
            open->held[k] = NULL;
        }
    }
    leave(call, 0);
    ixa_end_turn();
}

static void cancelled(ix_watched_call *call, MPI_Request request, const void *where)
{
    (void)where;
    take_turn(call);
    ixa_open *open = ixa_open_find(ix_handle(request));
    for (int k = 0; open && k < IXA_BUFFERS; k++)
        open->receive[k].message = NULL;
    leave(call, 1);
    ixa_end_turn();
}

static void freed(ix_watched_call *call, MPI_Request request, const void *where)
{
    take_turn(call);
    ixa_end_open(ixa_open_take(ix_handle(request), where), IXA_RELEASED);
    ixa_plan_forget(ix_handle(request));
    leave(call, 1);
    ixa_end_turn();
}

static void packed(ix_watched_call *call, int done)
{
    ixa_ranges ranges = {NULL, 0, 0};
    const ix_buffer *buffer = &call->buffer[0];
    take_turn(call);
    if (done && call->buffers && is_on(call, IXA_RECORDS) && ixa_mode == IXA_RECORD &&
        ixa_ranges_of(buffer, &ranges) == 0) {
        uintptr_t packed = (uintptr_t)call->packed;
        for (size_t i = 0; i < ranges.count; packed += ranges.range[i++].bytes) {
            uintptr_t data = ranges.range[i].address;
            if (buffer->is_receive)
                ixa_memory->copied(data, packed, ranges.range[i].bytes);
            else
                ixa_memory->copied(packed, data, ranges.range[i].bytes);
        }
        free(ranges.range);
    }
    leave(call, 1);
    ixa_end_turn();
}

static void passed(ix_watched_call *call, int found)
{
    take_turn(call);
    if (call->polls && found && is_on(call, IXA_RECORDS))
        end_interval(call, ix_self->compute_ns);
    leave(call, found);
    ixa_end_turn();
}

const ix_buffer_observer ixa_observed_calls = {.enter = enter,
                                               .among = among,
                                               .add = add,
                                               .before = before_call,
                                               .starting = starting,
                                               .packing = packing,
                                               .done = done,
                                               .begun = begun_request,
                                               .planned = planned,
                                               .begun_on = begun_on,
                                               .complete = complete,
                                               .complete_on = complete_on,
                                               .seen = seen,
                                               .cancelled = cancelled,
                                               .freed = freed,
                                               .packed = packed,
                                               .passed = passed};
