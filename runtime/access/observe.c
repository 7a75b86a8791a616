#include "observe.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "guard.h"
#include "messages.h"
#include "operations.h"
#include "requests.h"
#include "times.h"
#include "trace.h"

int ixa_observed;

/* MPI calls of several threads take turns here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ixa_memory_t *shadow_of_program(void)
{
    ixa_memory_t **table = dlsym(RTLD_DEFAULT, IXA_SYMBOL);
    return table && (*table)->version == IXA_VERSION ? *table : &ixa_shadow;
}

void ixa_start(int rank, const char *directory)
{
    const char *guard = getenv("IMBREX_GUARD");
    ixa_memory = shadow_of_program();
    if (ixa_times_start(rank))
        ixa_observed |= IXA_RECORDS;
    if (guard && *guard && strcmp(guard, "0") != 0) {
        ixa_guard_start(ixa_memory, rank, directory);
        ixa_observed |= IXA_GUARDS;
    }
    ixa_regions_start(rank, directory);
    if (ixa_observed & IXA_RECORDS)
        ixa_times_begin();
}

/* The thread's turn: its timeline is the one that counts. */
static void take_turn(const ixa_call *call)
{
    pthread_mutex_lock(&lock);
    if (call->timeline)
        ixa_timeline = call->timeline;
}

static void end_turn(void)
{
    pthread_mutex_unlock(&lock);
}

static int guards(void)
{
    return ixa_observed & IXA_GUARDS;
}

/* ---- Before the library's function ------------------------------------------------------------
 */

static int is_on(const ixa_call *call, int what)
{
    return call->on & what & ixa_observed;
}

ixa_call *ixa_enter(const ix_thread *t, int polls)
{
    static __thread ixa_call the_call; /* of user code, so that a thread has one at a time */
    ixa_call *call = &the_call;
    *call = (ixa_call){.on = IXA_GUARDS | IXA_ANNOTATED,
                       .polls = polls,
                       .site = t->address,
                       .operation = t->operation};
    if (ixa_observed & IXA_RECORDS) {
        pthread_mutex_lock(&lock);
        call->timeline = ixa_timeline_of(t);
        end_turn();
    }
    if (call->timeline)
        call->on |= IXA_RECORDS;
    call->on &= ixa_observed;
    take_turn(call);
    if (is_on(call, IXA_RECORDS) && !polls)
        ixa_times_enter(t->compute_ns, t->operation, t->address);
    end_turn();
    return call->on ? call : NULL;
}

void ixa_among(const ixa_call *call, const ix_comm *c)
{
    take_turn(call);
    if (is_on(call, IXA_RECORDS) && ixa_timeline->number == 0)
        ixa_trace_group(c);
    end_turn();
}

static int is_empty(const ixa_buffer *buffer)
{
    return buffer->blocks == 0 && buffer->count <= 0;
}

void ixa_add(ixa_call *call, const ixa_buffer *buffer)
{
    /* A message without data is one that somebody waits for, too. */
    if (buffer->peer == MPI_PROC_NULL || call->buffers == IXA_BUFFERS ||
        (is_empty(buffer) && (buffer->collective || buffer->one_sided)))
        return;
    call->buffer[call->buffers++] = *buffer;
}

void ixa_add_one(ixa_call *call, int how, const void *address, int64_t count, MPI_Datatype type,
                 int peer, int tag, MPI_Comm comm)
{
    ixa_add(call, &(ixa_buffer){.address = address,
                                .type = type,
                                .count = count,
                                .is_receive = (how & IXA_RECEIVED) != 0,
                                .collective = (how & IXA_COLLECTIVE) != 0,
                                .in_place = (how & IXA_IN_PLACE) != 0,
                                .one_sided = (how & IXA_ONE_SIDED) != 0,
                                .peer = peer,
                                .tag = tag,
                                .comm = comm});
}

static ixa_receive_t before(const ixa_call *call, const ixa_buffer *buffer)
{
    ixa_receive_t receive = {NULL, 0};
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

void ixa_before(ixa_call *call)
{
    take_turn(call);
    for (int k = 0; k < call->buffers; k++) {
        call->receive[k] = before(call, &call->buffer[k]);
        if (is_on(call, IXA_GUARDS))
            call->sum[k] = ixa_guard_sum(&call->buffer[k]);
    }
    end_turn();
}

static void open_buffer(ixa_open *open, const ixa_call *call, int k, const ixa_buffer *buffer,
                        ixa_receive_t receive, uint64_t sum)
{
    open->receive[k] = receive;
    if (is_on(call, IXA_ANNOTATED) && buffer->is_receive)
        open->span[k] = ixa_span_of(buffer);
    if (is_on(call, IXA_GUARDS) && !buffer->in_place)
        open->held[k] = ixa_guard_hold(call->site, call->operation, buffer, sum);
}

void ixa_starting(ixa_call *call, int count, const MPI_Request *requests, const void *where,
                  size_t step)
{
    take_turn(call);
    for (int i = 0; i < count; i++) {
        const ixa_plan *plan = ixa_plan_of(ix_handle(requests[i]));
        ixa_open *open =
            plan ? ixa_open_new(ix_handle(requests[i]), (const char *)where + (size_t)i * step, 0)
                 : NULL;
        for (int k = 0; open && k < plan->buffers; k++) {
            const ixa_buffer *buffer = &plan->buffer[k];
            ixa_receive_t receive = before(call, buffer);
            uint64_t sum = is_on(call, IXA_GUARDS) ? ixa_guard_sum(buffer) : 0;
            open_buffer(open, call, k, buffer, receive, sum);
        }
    }
    end_turn();
}

/* ---- After it ---------------------------------------------------------------------------------
 */

static void leave(ixa_call *call, int found)
{
    if (!is_on(call, IXA_RECORDS))
        return;
    if (found)
        ixa_times_exit();
    else
        ixa_times_in_vain(ix_self);
}

static void arrived(ixa_open *open, enum ixa_ending ending)
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

void ixa_done(ixa_call *call)
{
    take_turn(call);
    for (int k = 0; k < call->buffers; k++) {
        ixa_arrived(call->receive[k]);
        if (is_on(call, IXA_ANNOTATED) && call->buffer[k].is_receive && !is_empty(&call->buffer[k]))
            ixa_regions_arrival(ixa_span_of(&call->buffer[k]), ix_self->compute_ns);
    }
    leave(call, 1);
    end_turn();
}

static void begun(ixa_call *call, uint64_t handle, const void *where, int target)
{
    take_turn(call);
    ixa_open *open = call->buffers ? ixa_open_new(handle, where, target) : NULL;
    for (int k = 0; open && k < call->buffers; k++)
        open_buffer(open, call, k, &call->buffer[k], call->receive[k], call->sum[k]);
    leave(call, 1);
    end_turn();
}

void ixa_begun(ixa_call *call, MPI_Request request, const void *where)
{
    begun(call, ix_handle(request), where, 0);
}

void ixa_begun_on(ixa_call *call, MPI_Win window, int target)
{
    begun(call, ix_handle(window), NULL, target);
}

void ixa_planned(ixa_call *call, MPI_Request request)
{
    take_turn(call);
    ixa_plan_add(ix_handle(request), call->buffer, call->buffers);
    leave(call, 1);
    end_turn();
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

void ixa_complete(ixa_call *call, int found, int count, const MPI_Request *requests,
                  const void *where, size_t step, const int *indices)
{
    take_turn(call);
    found = found && (!call->polls || are_open(count, requests, indices));
    if (call->polls && found && is_on(call, IXA_RECORDS))
        ixa_times_enter(ix_self->compute_ns, call->operation, call->site);
    for (int i = 0; found && i < count; i++) {
        int k = indices ? indices[i] : i;
        if (k >= 0 && requests[k] != MPI_REQUEST_NULL)
            arrived(ixa_open_take(ix_handle(requests[k]), (const char *)where + (size_t)k * step),
                    IXA_COMPLETE);
    }
    leave(call, found);
    end_turn();
}

void ixa_complete_on(ixa_call *call, MPI_Win window, int target)
{
    take_turn(call);
    arrived(ixa_open_take_window(ix_handle(window), target), IXA_COMPLETE);
    leave(call, 1);
    end_turn();
}

void ixa_seen(ixa_call *call, int count, const MPI_Request *requests, const int *indices)
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
    end_turn();
}

void ixa_cancelled(ixa_call *call, MPI_Request request, const void *where)
{
    (void)where;
    take_turn(call);
    ixa_open *open = ixa_open_find(ix_handle(request));
    for (int k = 0; open && k < IXA_BUFFERS; k++)
        open->receive[k].message = NULL;
    leave(call, 1);
    end_turn();
}

void ixa_freed(ixa_call *call, MPI_Request request, const void *where)
{
    take_turn(call);
    arrived(ixa_open_take(ix_handle(request), where), IXA_RELEASED);
    ixa_plan_forget(ix_handle(request));
    leave(call, 1);
    end_turn();
}

const void *ixa_item(const void *buffer, int64_t index, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    return (const char *)buffer + index * (int64_t)extent;
}

void ixa_packed(ixa_call *call, int done)
{
    ixa_ranges ranges = {NULL, 0, 0};
    const ixa_buffer *buffer = &call->buffer[0];
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
    end_turn();
}

void ixa_passed(ixa_call *call, int found)
{
    take_turn(call);
    if (call->polls && found && is_on(call, IXA_RECORDS))
        ixa_times_enter(ix_self->compute_ns, call->operation, call->site);
    leave(call, found);
    end_turn();
}

void ixa_end(void)
{
    if (!ixa_observed)
        return;
    pthread_mutex_lock(&lock);
    if (ixa_observed & IXA_RECORDS) {
        ixa_timeline = ixa_timeline_at(0);
        ixa_times_enter(ix_self ? ix_self->compute_ns : 0, IX_OP_Finalize, NULL);
        ixa_messages_finish();
        ixa_times_finish();
        ixa_trace_finish();
        ixa_write_results();
    }
    if (guards()) {
        arrived(ixa_open_take_all(), IXA_NEVER);
        ixa_guard_end();
    }
    ixa_regions_end(ix_self ? ix_self->compute_ns : 0);
    ixa_observed = 0;
    end_turn();
}
