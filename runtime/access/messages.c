#include "messages.h"

#include "access.h"
#include "times.h"
#include "watch.h"

#include <stdlib.h>

enum { AWAITED = 1024, PATIENCE = 1 << 14 };

ixa_message_t ixa_messages[IXA_MESSAGES];
size_t ixa_message_count;
uint64_t ixa_dropped;

/* Arrivals whose first reads are awaited. */
static struct {
    ixa_message_t *message;
    uintptr_t buffer;
    double reference_ns;
    uint64_t reference;
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
    size_t last = message->layout.elements - 1;
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

static ixa_message_t *find(const void *site, int is_send, int count, MPI_Datatype type, int peer,
                           int tag, MPI_Comm comm)
{
    ixa_message_t key = {
        .site = site, .is_send = is_send, .peer = peer, .tag = tag, .comm = comm, .count = count};
    MPI_Aint lower;
    PMPI_Type_size(type, &key.size);
    PMPI_Type_get_extent(type, &lower, &key.extent);
    PMPI_Type_get_true_extent(type, &key.true_lower, &key.true_extent);
    for (size_t i = 0; i < ixa_message_count; i++) {
        ixa_message_t *m = &ixa_messages[i];
        if (m->site == site && m->is_send == is_send && m->peer == peer && m->tag == tag &&
            m->comm == comm && m->count == count && m->size == key.size &&
            m->extent == key.extent && m->true_lower == key.true_lower &&
            m->true_extent == key.true_extent)
            return m;
    }
    if (ixa_message_count == IXA_MESSAGES || ixa_layout(count, type, &key.layout) != 0) {
        ixa_dropped += key.size > 0;
        return NULL;
    }
    key.element = calloc(key.layout.elements, sizeof *key.element);
    if (!key.element) {
        free(key.layout.offsets);
        ixa_dropped++;
        return NULL;
    }
    key.world_peer = world_rank(peer, comm);
    ixa_messages[ixa_message_count] = key;
    return &ixa_messages[ixa_message_count++];
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
    ixa_watch_arm(buffer + (uintptr_t)message->layout.offsets[element],
                  message->layout.element_bytes, message->is_send);
    if (!ixa_watch_busy())
        watched.message = NULL;
}

/* ---- The recorded run: every element ----------------------------------------------------------
 */

static void take_over(size_t index)
{
    ixa_message_t *m = awaited[index].message;
    for (size_t k = 0; k < m->layout.elements; k++) {
        uint64_t first = ixa_first_read(awaited[index].buffer + (uintptr_t)m->layout.offsets[k],
                                        m->layout.element_bytes);
        double ns;
        if (first == IXA_OVERWRITTEN)
            m->element[k].other++;
        else if (first != IXA_UNREAD && ixa_time_of(first, &ns))
            add(&m->element[k], first - awaited[index].reference, ns - awaited[index].reference_ns);
    }
    awaited[index] = awaited[--awaited_count];
}

/* New data are about to lie in this memory: what was read of the old is all that will be. */
static void take_over_range(const ixa_message_t *message, uintptr_t buffer)
{
    uintptr_t end = buffer + (uintptr_t)(message->extent * (message->count - 1)) +
                    (uintptr_t)(message->true_lower + message->true_extent);
    for (size_t i = awaited_count; i-- > 0;) {
        const ixa_message_t *m = awaited[i].message;
        uintptr_t other = awaited[i].buffer;
        uintptr_t other_end = other + (uintptr_t)(m->extent * (m->count - 1)) +
                              (uintptr_t)(m->true_lower + m->true_extent);
        if (other < end && buffer < other_end)
            take_over(i);
    }
}

static void watch_pages(const ixa_message_t *m, uintptr_t buffer)
{
    for (size_t k = 0; k < m->layout.elements; k++)
        if (ixa_watch(buffer + (uintptr_t)m->layout.offsets[k], m->layout.element_bytes))
            ixa_dropped++;
}

void ixa_send(const void *site, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
              MPI_Comm comm)
{
    if (!ixa_outermost() || peer == MPI_PROC_NULL || count <= 0)
        return;
    ixa_message_t *m = find(site, 1, count, type, peer, tag, comm);
    if (!m)
        return;
    count_call(m);
    uintptr_t start = (uintptr_t)buffer;
    if (ixa_mode == IXA_CLEAN) {
        watch_before(m, start);
        watch_after(m, start);
        return;
    }
    for (size_t k = 0; k < m->layout.elements; k++) {
        uintptr_t at = start + (uintptr_t)m->layout.offsets[k];
        uint64_t latest = ixa_last_write(at, m->layout.element_bytes);
        double ns;
        if (latest && latest <= m->previous)
            m->element[k].other++;
        else if (latest && ixa_time_of(latest, &ns))
            add(&m->element[k], ixa_clock - latest, ixa_now_ns - ns);
        /* Data that are passed on as they came are needed now. */
        ixa_read(at, m->layout.element_bytes);
    }
    m->previous = ixa_clock;
    watch_pages(m, start);
}

ixa_receive_t ixa_post(const void *site, void *buffer, int count, MPI_Datatype type, int peer,
                       int tag, MPI_Comm comm)
{
    ixa_receive_t receive = {NULL, (uintptr_t)buffer};
    if (!ixa_outermost() || peer == MPI_PROC_NULL || count <= 0)
        return receive;
    receive.message = find(site, 0, count, type, peer, tag, comm);
    if (receive.message && ixa_mode == IXA_RECORD) {
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
    take_over_range(m, receive.buffer);
    if (awaited_count == AWAITED) {
        ixa_dropped++;
        return;
    }
    for (size_t k = 0; k < m->layout.elements; k++) {
        uintptr_t at = receive.buffer + (uintptr_t)m->layout.offsets[k];
        ixa_write(at, m->layout.element_bytes);
        ixa_arm(at, m->layout.element_bytes);
    }
    awaited[awaited_count].message = m;
    awaited[awaited_count].buffer = receive.buffer;
    awaited[awaited_count].reference = ixa_clock;
    awaited[awaited_count++].reference_ns = ixa_now_ns;
}

void ixa_messages_finish(void)
{
    while (awaited_count)
        take_over(awaited_count - 1);
    if (watched.message)
        conclude(ixa_watch_found());
}
