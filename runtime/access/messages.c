#include "messages.h"

#include "times.h"
#include "trace.h"
#include "watch.h"

#include <stdlib.h>

enum { AWAITED = 1024, PATIENCE = 1 << 14 };

ixa_memory_t *ixa_memory = &ixa_shadow;
ixa_message_t ixa_messages[IXA_MESSAGES];
size_t ixa_message_count;
static uint32_t point_to_point;
uint64_t ixa_dropped;

/* Arrivals whose first reads are awaited. */
static struct {
    ixa_message_t *message;
    uintptr_t buffer;
    double reference_ns;
    uint64_t reference; /* position on the clock of accesses */
} awaited[AWAITED];
static size_t awaited_count;

/* What the watchpoint of the clean run is on. */
static struct {
    ixa_message_t *message;
    uintptr_t buffer;
    int anchor, patience;
    double reference_ns;
} watched;

size_t ixa_anchor_element(const ixa_message_t *message, int a)
{
    size_t last = message->elements - 1;
    const size_t places[IXA_ANCHORS] = {0, last, last / 2, last / 4, last - last / 4};
    return places[a];
}

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
static int lay_out(const ixa_buffer *buffer, ixa_message_t *m)
{
    ixa_ranges ranges;
    if (ixa_ranges_of(buffer, &ranges) || ranges.bytes == 0) {
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
    m->offset = malloc(m->elements * sizeof *m->offset);
    m->element = calloc(m->elements, sizeof *m->element);
    m->low = PTRDIFF_MAX;
    m->high = PTRDIFF_MIN;
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

static ixa_message_t *find(const void *site, uint32_t operation, const ixa_buffer *buffer)
{
    ixa_message_t key = {.site = site,
                         .operation = operation,
                         .is_send = !buffer->is_receive,
                         .collective = buffer->collective,
                         .peer = buffer->peer,
                         .tag = buffer->tag,
                         .comm = buffer->comm,
                         .signature = ixa_signature(buffer)};
    for (size_t i = 0; i < ixa_message_count; i++) {
        ixa_message_t *m = &ixa_messages[i];
        if (m->site == site && m->is_send == key.is_send && m->peer == key.peer &&
            m->tag == key.tag && m->comm == key.comm && m->signature == key.signature)
            return m;
    }
    if (ixa_message_count == IXA_MESSAGES) {
        ixa_dropped++;
        return NULL;
    }
    if (lay_out(buffer, &key))
        return NULL;
    key.world_peer = buffer->peer == IXA_NO_PEER ? -1 : world_rank(buffer->peer, buffer->comm);
    if (!key.collective)
        key.number = point_to_point++;
    ixa_messages[ixa_message_count] = key;
    return &ixa_messages[ixa_message_count++];
}

/* A collective's buffers are of the call, which the trace has. */
static void trace(enum ixa_trace_kind kind, const ixa_message_t *m)
{
    if (!m->collective)
        ixa_trace(kind, m->number, 0);
}

static void count_call(ixa_message_t *m)
{
    if (m->calls++ == 0)
        m->first_ns = ixa_now_ns;
    m->last_ns = ixa_now_ns;
}

static void add(ixa_element_t *e, uint64_t accesses, double ns)
{
    e->accesses += (double)accesses;
    e->ns += ns;
    e->ns_squared += ns * ns;
    e->count++;
}

/* ---- The clean run: single elements, timed --------------------------------------------------- */

/* The watchpoint goes round: it is the turn of a message that had no more tries than the others
 * that recur as it does. */
static int is_turn_of(const ixa_message_t *message)
{
    uint64_t most_calls = 0;
    uint32_t fewest = UINT32_MAX;
    for (size_t i = 0; i < ixa_message_count; i++)
        if (ixa_messages[i].calls > most_calls)
            most_calls = ixa_messages[i].calls;
    for (size_t i = 0; i < ixa_message_count; i++)
        if (ixa_messages[i].calls * 2 >= most_calls && ixa_messages[i].tries < fewest)
            fewest = ixa_messages[i].tries;
    return message->tries <= fewest;
}

static void conclude(int valid)
{
    double ns, time;
    ixa_message_t *m = watched.message;
    if (ixa_watch_disarm(&ns) && valid) {
        time = m->is_send ? ixa_now_ns - ns : ns - watched.reference_ns;
        m->anchor_ns[watched.anchor][m->samples[watched.anchor]++ % IXA_SAMPLES] = time;
    }
    m->tries++;
    watched.message = NULL;
}

/* Before every event of a message: is the watchpoint's task done, or hopeless? */
static void watch_before(const ixa_message_t *message, uintptr_t buffer)
{
    if (!watched.message)
        return;
    int again = watched.message == message;
    if (ixa_watch_found() || (again && watched.message->is_send))
        conclude(ixa_watch_found() || watched.buffer == buffer);
    else if (again || watched.patience-- == 0)
        conclude(0);
}

static void watch_after(ixa_message_t *message, uintptr_t buffer)
{
    if (watched.message || !ixa_watch_works() || !is_turn_of(message))
        return;
    watched.message = message;
    watched.buffer = buffer;
    watched.anchor = (int)(message->tries % IXA_ANCHORS);
    watched.patience = PATIENCE;
    watched.reference_ns = ixa_now_ns;
    size_t element = ixa_anchor_element(message, watched.anchor);
    ixa_watch_arm(buffer + (uintptr_t)message->offset[element], message->element_bytes,
                  message->is_send);
    if (!ixa_watch_busy())
        watched.message = NULL;
}

/* ---- The recorded run: every element -----------------------------------------------------------
 */

/* Whether all elements of one call are copies. Equal values throughout prove nothing. */
enum copied { DIRECT, COPIED, OPEN };
typedef int ixa_look_t(uintptr_t address, size_t size, ixa_copy_t *copy);

static enum copied all_copied(const ixa_message_t *m, uintptr_t buffer, ixa_look_t *look)
{
    ixa_copy_t first = {0, 0, 0}, copy;
    int differ = 0;
    for (size_t k = 0; k < m->elements; k++) {
        if (!look(buffer + (uintptr_t)m->offset[k], m->element_bytes, &copy))
            return DIRECT;
        if (k == 0)
            first = copy;
        differ |= copy.value != first.value;
    }
    return differ ? COPIED : OPEN;
}

static int count_copied(ixa_message_t *m, enum copied copied)
{
    if (copied == DIRECT)
        m->direct_calls++;
    if (copied != COPIED)
        return 0;
    if (!m->copied)
        m->copied = calloc(m->elements, sizeof *m->copied);
    m->copied_calls += m->copied != NULL;
    return m->copied != NULL;
}

/* Elements that were unpacked are consumed where they went. */
static void take_over_unpacked(ixa_message_t *m, uintptr_t buffer, uint64_t reference,
                               double reference_ns)
{
    if (!count_copied(m, all_copied(m, buffer, ixa_memory->went_to)))
        return;
    for (size_t k = 0; k < m->elements; k++) {
        ixa_copy_t copy;
        uint64_t position;
        double ns;
        if (!ixa_memory->went_to(buffer + (uintptr_t)m->offset[k], m->element_bytes, &copy))
            continue;
        if (copy.stamp == IXA_OVERWRITTEN)
            m->copied[k].other++;
        else if (copy.stamp != IXA_UNREAD && ixa_time_of(copy.stamp, &position, &ns))
            add(&m->copied[k], position - reference, ns - reference_ns);
    }
}

/* Elements that were packed are produced where they came from; that memory is watched from the
 * first such send on. */
static void send_packed(ixa_message_t *m, uintptr_t buffer)
{
    /* Before the first send nobody looked. */
    if (m->calls == 1 || !count_copied(m, all_copied(m, buffer, ixa_memory->came_from)))
        return;
    for (size_t k = 0; k < m->elements; k++) {
        ixa_copy_t copy;
        uint64_t position;
        double ns;
        if (!ixa_memory->came_from(buffer + (uintptr_t)m->offset[k], m->element_bytes, &copy))
            continue;
        if (copy.stamp && ixa_time_of(copy.stamp, &position, &ns) && position > m->previous)
            add(&m->copied[k], ixa_position - position, ixa_now_ns - ns);
        else if (copy.stamp)
            m->copied[k].other++;
        if (ixa_memory->follow(copy.origin, m->element_bytes))
            ixa_dropped++;
    }
}

static void take_over(size_t index)
{
    ixa_message_t *m = awaited[index].message;
    take_over_unpacked(m, awaited[index].buffer, awaited[index].reference,
                       awaited[index].reference_ns);
    for (size_t k = 0; k < m->elements; k++) {
        uint64_t first = ixa_memory->first_read(awaited[index].buffer + (uintptr_t)m->offset[k],
                                                m->element_bytes);
        uint64_t position;
        double ns;
        if (first == IXA_OVERWRITTEN)
            m->element[k].other++;
        else if (first != IXA_UNREAD && ixa_time_of(first, &position, &ns))
            add(&m->element[k], position - awaited[index].reference,
                ns - awaited[index].reference_ns);
    }
    awaited[index] = awaited[--awaited_count];
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

void ixa_send(const void *site, uint32_t operation, const ixa_buffer *buffer)
{
    ixa_message_t *m = find(site, operation, buffer);
    if (!m)
        return;
    count_call(m);
    trace(IXA_TRACE_SEND, m);
    uintptr_t start = (uintptr_t)buffer->address;
    if (ixa_mode == IXA_CLEAN) {
        watch_before(m, start);
        watch_after(m, start);
        return;
    }
    send_packed(m, start);
    for (size_t k = 0; k < m->elements; k++) {
        uintptr_t at = start + (uintptr_t)m->offset[k];
        uint64_t latest = ixa_memory->last_write(at, m->element_bytes), position;
        double ns;
        int known = latest && ixa_time_of(latest, &position, &ns);
        if (known && position > m->previous)
            add(&m->element[k], ixa_position - position, ixa_now_ns - ns);
        else if (latest && m->previous)
            m->element[k].other++;
        /* Data that are passed on as they came are needed now. */
        ixa_memory->read(at, m->element_bytes);
    }
    m->previous = ixa_position;
    watch_pages(m, start);
}

ixa_receive_t ixa_post(const void *site, uint32_t operation, const ixa_buffer *buffer)
{
    ixa_receive_t receive = {find(site, operation, buffer), (uintptr_t)buffer->address};
    if (receive.message && ixa_mode == IXA_RECORD) {
        trace(IXA_TRACE_POST, receive.message);
        take_over_range(receive.message, receive.buffer);
        watch_pages(receive.message, receive.buffer);
    }
    return receive;
}

void ixa_arrived(ixa_receive_t receive)
{
    ixa_message_t *m = receive.message;
    if (!m)
        return;
    count_call(m);
    if (ixa_mode == IXA_CLEAN) {
        watch_before(m, receive.buffer);
        watch_after(m, receive.buffer);
        return;
    }
    trace(IXA_TRACE_ARRIVED, m);
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
    awaited[awaited_count].buffer = receive.buffer;
    awaited[awaited_count].reference = ixa_position;
    awaited[awaited_count++].reference_ns = ixa_now_ns;
}

void ixa_messages_finish(void)
{
    while (awaited_count)
        take_over(awaited_count - 1);
    if (watched.message)
        conclude(ixa_watch_found());
}
