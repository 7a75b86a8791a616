#include "access/messages.h"

#include "access/anchors.h"
#include "access/message_copies.h"
#include "access/timeline.h"
#include "access/trace.h"
#include "generated/operations.h"
#include "mpi/comms.h"

#include <stdlib.h>
#include <string.h>

enum { AWAITED = 1024 };

ixa_memory_t *ixa_memory = &ixa_shadow;
ixa_message_t ixa_messages[IXA_MESSAGES];
size_t ixa_message_count;
static uint32_t point_to_point;
uint64_t ixa_dropped;

/* Arrivals whose first reads are awaited. */
static struct {
    ixa_message_t *message;
    ixa_timeline_t *timeline;
    uintptr_t buffer;
    double reference_ns;
    uint64_t reference; /* position on the clock of accesses */
} awaited[AWAITED];
static size_t awaited_count;

static int world_rank(int peer, MPI_Comm comm)
{
    MPI_Group world, group;
    int inter = 0, result = peer;
    PMPI_Comm_test_inter(comm, &inter);
    if (peer < 0)
        return peer;
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &peer, world, &result);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return result;
}

/* Where the elements lie. */
static int lay_out(const ix_buffer *buffer, ixa_message_t *m)
{
    ixa_ranges ranges;
    if (ixa_ranges_of(buffer, &ranges)) {
        ixa_dropped++;
        return -1;
    }
    if (ranges.bytes == 0 && buffer->collective) {
        free(ranges.range);
        return -1;
    }
    size_t unit = ixa_leaf_bytes(buffer);
    if (unit < 4)
        unit = 8;
    for (size_t i = 0; i < ranges.count; i++)
        while (unit > 1 && ranges.range[i].bytes % unit)
            unit = unit > 8 ? 8 : unit / 2;
    m->element_bytes = unit;
    m->elements = ranges.bytes / unit;
    m->offset = malloc((m->elements + 1) * sizeof *m->offset);
    m->element = calloc(m->elements + 1, sizeof *m->element);
    m->low = m->elements ? PTRDIFF_MAX : 0;
    m->high = m->elements ? PTRDIFF_MIN : 0;
    size_t k = 0;
    for (size_t i = 0; m->offset && m->element && i < ranges.count; i++) {
        ptrdiff_t at = (ptrdiff_t)(ranges.range[i].address - (uintptr_t)buffer->address);
        m->low = at < m->low ? at : m->low;
        for (size_t byte = 0; byte < ranges.range[i].bytes; byte += unit, at += (ptrdiff_t)unit)
            m->offset[k++] = at;
        m->high = at > m->high ? at : m->high;
    }
    free(ranges.range);
    if (m->offset && m->element)
        return 0;
    free(m->offset);
    free(m->element);
    ixa_dropped++;
    return -1;
}

static ixa_message_t *find(const void *site, uint32_t operation, const ix_buffer *buffer)
{
    ixa_message_t key = {.site = site,
                         .thread = ixa_timeline->number,
                         .operation = operation,
                         .is_send = !buffer->is_receive,
                         .collective = buffer->collective,
                         .peer = buffer->peer,
                         .tag = buffer->tag,
                         .comm = buffer->comm,
                         .signature = ixa_signature(buffer)};
    for (size_t i = 0; i < ixa_message_count; i++) {
        ixa_message_t *m = &ixa_messages[i];
        if (m->site == site && m->thread == key.thread && m->is_send == key.is_send &&
            m->peer == key.peer && m->tag == key.tag && m->comm == key.comm &&
            m->signature == key.signature)
            return m;
    }
    if (ixa_message_count == IXA_MESSAGES) {
        ixa_dropped++;
        return NULL;
    }
    if (lay_out(buffer, &key))
        return NULL;
    key.world_peer = buffer->peer == IX_NO_PEER ? -1 : world_rank(buffer->peer, buffer->comm);
    const ix_comm *c = ix_comm_of(buffer->comm);
    key.processes = !c ? 0 : c->inter ? c->size + c->peers : c->size;
    if (!key.collective && key.thread == 0)
        key.number = point_to_point++;
    ixa_messages[ixa_message_count] = key;
    return &ixa_messages[ixa_message_count++];
}

/* The message of one sender and tag among those that a receive may take; NULL if there is no room
 * for it. */
static ixa_message_t *among(const ixa_message_t *any, int peer, int tag)
{
    for (size_t i = 0; i < ixa_message_count; i++) {
        ixa_message_t *m = &ixa_messages[i];
        if (m->site == any->site && m->thread == any->thread && !m->is_send && m->peer == peer &&
            m->tag == tag && m->comm == any->comm && m->signature == any->signature)
            return m;
    }
    if (ixa_message_count == IXA_MESSAGES)
        return NULL;
    size_t bytes = (any->elements + 1) * sizeof *any->offset;
    ixa_message_t one = {.site = any->site,
                         .thread = any->thread,
                         .operation = any->operation,
                         .comm = any->comm,
                         .peer = peer,
                         .tag = tag,
                         .world_peer = world_rank(peer, any->comm),
                         .processes = any->processes,
                         .signature = any->signature,
                         .elements = any->elements,
                         .element_bytes = any->element_bytes,
                         .offset = malloc(bytes),
                         .low = any->low,
                         .high = any->high,
                         .element = calloc(any->elements + 1, sizeof *any->element)};
    if (!one.offset || !one.element) {
        free(one.offset);
        free(one.element);
        return NULL;
    }
    memcpy(one.offset, any->offset, bytes);
    if (one.thread == 0)
        one.number = point_to_point++;
    ixa_messages[ixa_message_count] = one;
    return &ixa_messages[ixa_message_count++];
}

/* A collective's buffers are of the call, which the trace has; the trace is the first thread's. */
static int32_t trace(enum ixa_trace_kind kind, const ixa_message_t *m)
{
    return m->collective || m->thread ? IXA_NO_TRACE : ixa_trace(kind, m->number, 0);
}

static void count_call(ixa_message_t *m)
{
    if (m->calls++ == 0)
        m->first_ns = ixa_timeline->now_ns;
    m->last_ns = ixa_timeline->now_ns;
}

/* The recorded run looks at every element of a message. */

static void take_over(size_t index)
{
    ixa_message_t *m = awaited[index].message;
    ixa_timeline_t *now = ixa_timeline;
    ixa_timeline = awaited[index].timeline;
    ixa_take_over_unpacked(m, awaited[index].buffer, awaited[index].reference,
                           awaited[index].reference_ns);
    for (size_t k = 0; k < m->elements; k++) {
        uint64_t first = ixa_memory->first_read(awaited[index].buffer + (uintptr_t)m->offset[k],
                                                m->element_bytes);
        uint64_t position;
        double ns;
        if (first == IXA_OVERWRITTEN)
            m->element[k].other++;
        else if (first != IXA_UNREAD && ixa_time_of(first, &position, &ns))
            ixa_add(&m->element[k], position - awaited[index].reference,
                    ns - awaited[index].reference_ns);
    }
    awaited[index] = awaited[--awaited_count];
    ixa_timeline = now;
}

/* New data are about to lie in this memory: what was read of the old is all that will be. */
static void take_over_range(const ixa_message_t *message, uintptr_t buffer)
{
    for (size_t i = awaited_count; i-- > 0;) {
        const ixa_message_t *m = awaited[i].message;
        uintptr_t other = awaited[i].buffer;
        if (other + (uintptr_t)m->low < buffer + (uintptr_t)message->high &&
            buffer + (uintptr_t)message->low < other + (uintptr_t)m->high)
            take_over(i);
    }
}

static void watch_pages(const ixa_message_t *m, uintptr_t buffer)
{
    for (size_t k = 0; k < m->elements; k++)
        if (ixa_memory->watch(buffer + (uintptr_t)m->offset[k], m->element_bytes))
            ixa_dropped++;
}

static uint64_t value_at(uintptr_t address, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value * 0x100000001b3u + ((const uint8_t *)address)[i];
    return value;
}

/* Whether element k is another than in the send before, from the same memory; remembers it. */
static int has_changed(ixa_message_t *m, uintptr_t start, size_t k)
{
    uint64_t value = value_at(start + (uintptr_t)m->offset[k], m->element_bytes);
    int changed = m->sent_from == start && m->value[k] != value;
    m->value[k] = value;
    return changed;
}

void ixa_send(const void *site, uint32_t operation, const ix_buffer *buffer)
{
    ixa_message_t *m = find(site, operation, buffer);
    if (!m)
        return;
    if (ixa_mode == IXA_PREPARE) {
        m->before++;
        return;
    }
    count_call(m);
    trace(IXA_TRACE_SEND, m);
    uintptr_t start = (uintptr_t)buffer->address;
    if (ixa_mode == IXA_CLEAN) {
        ixa_anchors_before(m, start);
        ixa_anchors_after(m, start);
        return;
    }
    ixa_send_packed(m, start);
    if (!m->value)
        m->value = calloc(m->elements, sizeof *m->value);
    for (size_t k = 0; k < m->elements; k++) {
        uintptr_t at = start + (uintptr_t)m->offset[k];
        uint64_t latest = ixa_memory->last_write(at, m->element_bytes), position;
        double ns;
        int known = latest && ixa_time_of(latest, &position, &ns);
        if (known && position > m->previous)
            ixa_add(&m->element[k], ixa_timeline->position - position, ixa_timeline->now_ns - ns);
        else if (latest && m->previous)
            m->element[k].other++;
        if (m->value && has_changed(m, start, k) && !(known && position >= m->previous))
            m->unseen++;
        /* Data that are passed on as they came are needed now. */
        ixa_memory->read(at, m->element_bytes);
    }
    m->previous = ixa_timeline->position;
    m->sent_from = start;
    watch_pages(m, start);
}

ixa_receive_t ixa_post(const void *site, uint32_t operation, const ix_buffer *buffer)
{
    ixa_receive_t receive = {find(site, operation, buffer), (uintptr_t)buffer->address,
                             IXA_NO_TRACE, ixa_mode == IXA_PREPARE};
    if (receive.message && ixa_mode == IXA_RECORD) {
        receive.posted = trace(IXA_TRACE_POST, receive.message);
        take_over_range(receive.message, receive.buffer);
        watch_pages(receive.message, receive.buffer);
    }
    return receive;
}

ixa_receive_t ixa_taken(ixa_receive_t receive, int source, int tag)
{
    const ixa_message_t *any = receive.message;
    if (!any || any->collective || (any->peer >= 0 && any->tag >= 0) || source < 0 || tag < 0)
        return receive;
    /* What a matched receive takes was found on a communicator that it does not name. */
    if (any->operation == IX_OP_Mrecv || any->operation == IX_OP_Imrecv)
        return receive;
    ixa_message_t *one = among(any, source, tag);
    if (!one)
        return receive;
    if (ixa_mode == IXA_RECORD && receive.posted != IXA_NO_TRACE)
        ixa_trace(IXA_TRACE_TAKEN, (uint32_t)receive.posted, 0);
    receive.message = one;
    return receive;
}

void ixa_arrived(ixa_receive_t receive)
{
    ixa_message_t *m = receive.message;
    if (!m)
        return;
    if (receive.is_early) {
        m->before++;
        return;
    }
    count_call(m);
    if (ixa_mode == IXA_CLEAN) {
        ixa_anchors_before(m, receive.buffer);
        ixa_anchors_after(m, receive.buffer);
        return;
    }
    trace(IXA_TRACE_ARRIVED, m);
    if (!m->elements)
        return;
    take_over_range(m, receive.buffer);
    if (awaited_count == AWAITED) {
        ixa_dropped++;
        return;
    }
    for (size_t k = 0; k < m->elements; k++) {
        uintptr_t at = receive.buffer + (uintptr_t)m->offset[k];
        ixa_memory->write(at, m->element_bytes);
        ixa_memory->arm(at, m->element_bytes);
    }
    awaited[awaited_count].message = m;
    awaited[awaited_count].timeline = ixa_timeline;
    awaited[awaited_count].buffer = receive.buffer;
    awaited[awaited_count].reference = ixa_timeline->position;
    awaited[awaited_count++].reference_ns = ixa_timeline->now_ns;
}

void ixa_messages_finish(void)
{
    while (awaited_count)
        take_over(awaited_count - 1);
    ixa_anchors_finish();
}
