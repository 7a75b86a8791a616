/* Point-to-point messages: posted early and late, completed by whatever calls MPI has for it. */
#include <stdlib.h>

#include "program.h"

enum { MESSAGES = 12, SHIFT = SERIALS /* no other tag */ };
enum { ISEND, SEND, ISSEND, SSEND, SEND_INIT, ISEND_FREED, SENDS };
enum { IRECV, IRECV_ANY, RECV_INIT, RECV, PROBE_RECV, RECVS };

typedef struct message {
    int from, to, bytes, send, receive, late;
    int open; /* begun, and not known to be complete */
    MPI_Request request;
} message;

static message messages[MESSAGES];
static int count;

static int is_eager(const message *m)
{
    return m->bytes < EAGER;
}

/* A blocking send of a large message must find its receive. */
static void choose(message *m, int *serial)
{
    *m = (message){.request = MPI_REQUEST_NULL};
    m->from = (int)draw((uint32_t)ranks);
    m->to = (m->from + 1 + (int)draw((uint32_t)ranks - 1)) % ranks;
    m->bytes = unique_size(serial, (int)draw(2));
    m->send = (int)draw(SENDS);
    m->receive = (int)draw(RECVS);
    m->late = (int)draw(2);
    int posted = m->receive <= RECV_INIT && !m->late;
    if (m->send == SSEND && !posted)
        m->send = ISSEND;
    if (m->send == SEND && !posted && !is_eager(m))
        m->send = ISEND;
    if (m->send == ISEND_FREED && !is_eager(m))
        m->send = ISEND;
}

static void send(message *m)
{
    int n = m->bytes, to = m->to, tag = n % SERIALS;
    MPI_Comm all = MPI_COMM_WORLD;
    switch (m->send) {
    case SEND:
        MESSAGE("MPI_Send", n, MPI_Send(buffer, n, MPI_BYTE, to, tag, all));
        completed("MPI_Send", 0, 1, &n);
        break;
    case SSEND:
        MESSAGE("MPI_Ssend", n, MPI_Ssend(buffer, n, MPI_BYTE, to, tag, all));
        completed("MPI_Ssend", 0, 1, &n);
        break;
    case ISSEND:
        MESSAGE("MPI_Issend", n, MPI_Issend(buffer, n, MPI_BYTE, to, tag, all, &m->request));
        break;
    case SEND_INIT:
        CALL(MPI_Send_init(buffer, n, MPI_BYTE, to, tag, all, &m->request));
        MESSAGE("MPI_Start", n, MPI_Start(&m->request));
        break;
    default:
        MESSAGE("MPI_Isend", n, MPI_Isend(buffer, n, MPI_BYTE, to, tag, all, &m->request));
        if (m->send == ISEND_FREED)
            CALL(MPI_Request_free(&m->request));
    }
    m->open = m->request != MPI_REQUEST_NULL;
}

static void probe(int from, int tag, int bytes)
{
    MPI_Status status;
    int found = 0;
    int64_t since = -1;
    if (!polling) {
        CALL(MPI_Probe(from, tag, MPI_COMM_WORLD, &status));
        completed("MPI_Probe", 0, 1, &bytes);
        return;
    }
    for (; !found; since = since < 0 ? last_entered() : since)
        CALL(MPI_Iprobe(from, tag, MPI_COMM_WORLD, &found, &status));
    found_by_polls(since, "MPI_Iprobe", 1, &bytes);
}

static void receive(message *m)
{
    int n = m->bytes, from = m->from, tag = n % SERIALS;
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Status status;
    switch (m->receive) {
    case RECV_INIT:
        CALL(MPI_Recv_init(other, n, MPI_BYTE, from, tag, all, &m->request));
        MESSAGE("MPI_Start", n, MPI_Start(&m->request));
        break;
    case IRECV_ANY:
        from = MPI_ANY_SOURCE; /* and with room for more */
        MESSAGE("MPI_Irecv", n, MPI_Irecv(other, n + 5000, MPI_BYTE, from, tag, all, &m->request));
        break;
    case IRECV:
        MESSAGE("MPI_Irecv", n, MPI_Irecv(other, n, MPI_BYTE, from, tag, all, &m->request));
        break;
    case PROBE_RECV:
        probe(from, tag, n);
        /* fall through */
    default:
        MESSAGE("MPI_Recv", n, MPI_Recv(other, BIG, MPI_BYTE, from, tag, all, &status));
        completed("MPI_Recv", 0, 1, &n);
    }
    m->open = m->request != MPI_REQUEST_NULL;
}

/* Step 0: early receives; 1: sends; 2: late receives; 3: blocking receives. */
static void own_part(message *m, int step)
{
    int blocks = m->receive >= RECV;
    if (m->to == rank && step == (blocks ? 3 : m->late * 2))
        receive(m);
    if (m->from == rank && step == 1)
        send(m);
}

static void test(message *m)
{
    int done;
    if (m->request == MPI_REQUEST_NULL || polling) /* there it would look like a poll for another */
        return;
    CALL(MPI_Test(&m->request, &done, MPI_STATUS_IGNORE));
    m->open = m->open && !done;
}

static int is_persistent(const message *m)
{
    return (m->from == rank && m->send == SEND_INIT) || (m->to == rank && m->receive == RECV_INIT);
}

/* The requests of this rank in one array, as MPI_Waitall wants them. */
static MPI_Request open_requests[MESSAGES];

static int gather_requests(void)
{
    for (int i = 0; i < count; i++)
        open_requests[i] = messages[i].request;
    return count;
}

static void scatter_requests(void)
{
    for (int i = 0; i < count; i++)
        messages[i].request = open_requests[i];
}

static void poll_for(message *m)
{
    int64_t since = -1;
    for (int done = 0; !done; since = since < 0 ? last_entered() : since)
        CALL(MPI_Test(&m->request, &done, MPI_STATUS_IGNORE));
    found_by_polls(since, "MPI_Test", m->open, &m->bytes);
}

static void wait_singly(int reverse)
{
    for (int i = 0; i < count; i++) {
        message *m = &messages[reverse ? count - 1 - i : i];
        if (m->request == MPI_REQUEST_NULL)
            continue;
        if (polling) {
            poll_for(m);
            continue;
        }
        CALL(MPI_Wait(&m->request, MPI_STATUS_IGNORE));
        completed("MPI_Wait", 0, m->open, &m->bytes);
    }
}

/* The sizes of those of the named messages (NULL: of all) that were open, which they are no more.
 */
static int close_messages(int n, const int *indices, int *sizes)
{
    int closed = 0;
    for (int i = 0; i < n; i++) {
        message *m = &messages[indices ? indices[i] : i];
        if (m->open)
            sizes[closed++] = m->bytes;
        m->open = 0;
    }
    return closed;
}

static void complete(const char *operation, int n, const int *indices)
{
    int sizes[MESSAGES], closed = close_messages(n, indices, sizes);
    completed(operation, indices != NULL, closed, sizes);
}

static void wait_together(int how)
{
    if (polling) {
        wait_singly(how & 1);
        return;
    }
    int n = gather_requests(), index = 0, some, indices[MESSAGES], sizes[MESSAGES], done;
    MPI_Status statuses[MESSAGES];
    switch (how) {
    case 0:
        CALL(MPI_Waitall(n, open_requests, MPI_STATUSES_IGNORE));
        complete("MPI_Waitall", n, NULL);
        break;
    case 1:
        while (index != MPI_UNDEFINED) {
            CALL(MPI_Waitany(n, open_requests, &index, MPI_STATUS_IGNORE));
            complete("MPI_Waitany", index != MPI_UNDEFINED, &index);
        }
        break;
    case 2:
        do {
            CALL(MPI_Waitsome(n, open_requests, &some, indices, statuses));
            complete("MPI_Waitsome", some == MPI_UNDEFINED ? 0 : some, indices);
        } while (some != MPI_UNDEFINED);
        break;
    case 3: /* SMPI's MPI_Testall completes single requests although its flag is false */
        for (int i = 0; i < 20; i++) {
            CALL(MPI_Testany(n, open_requests, &index, &done, MPI_STATUS_IGNORE));
            close_messages(done && index != MPI_UNDEFINED, &index, sizes);
            usleep(100);
        }
        CALL(MPI_Waitall(n, open_requests, MPI_STATUSES_IGNORE));
        complete("MPI_Waitall", n, NULL);
        break;
    default:
        for (int i = 0; i < 5; i++) {
            CALL(MPI_Testsome(n, open_requests, &some, indices, MPI_STATUSES_IGNORE));
            close_messages(some == MPI_UNDEFINED ? 0 : some, indices, sizes);
            usleep(500);
        }
        CALL(MPI_Waitall(n, open_requests, MPI_STATUSES_IGNORE));
        complete("MPI_Waitall", n, NULL);
    }
    scatter_requests();
}

static void free_persistent(void)
{
    for (int i = 0; i < count; i++)
        if (is_persistent(&messages[i]))
            CALL(MPI_Request_free(&messages[i].request));
}

/* All ranks on a ring at once. */
static void shift(int *serial)
{
    int by = 1 + (int)draw((uint32_t)ranks - 1), rendezvous = (int)draw(2), sizes[64];
    for (int i = 0; i < ranks; i++)
        sizes[i] = unique_size(serial, rendezvous);
    int to = (rank + by) % ranks, from = (rank + ranks - by) % ranks;
    note_message("MPI_Sendrecv", sizes[from], sizes[rank]);
    MESSAGE("MPI_Sendrecv", sizes[rank],
            MPI_Sendrecv(buffer, sizes[rank], MPI_BYTE, to, SHIFT, other, sizes[from], MPI_BYTE,
                         from, SHIFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    completed("MPI_Sendrecv", 0, 2, (const int[]){sizes[rank], sizes[from]});
}

void round_of_messages(int *serial)
{
    count = 1 + (int)draw(MESSAGES);
    for (int i = 0; i < count; i++)
        choose(&messages[i], serial);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < count; i++) {
            own_part(&messages[i], step);
            if (draw(3) == 0)
                compute();
            message *m = &messages[draw((uint32_t)count)];
            if (draw(3) == 0)
                test(m);
        }
        compute();
        if (step == 1 && draw(4) == 0)
            blocking_collective();
    }
    uint32_t how = draw(7);
    if (how < 2)
        wait_singly((int)how);
    else
        wait_together((int)how - 2);
    free_persistent();
    if (draw(4) == 0)
        shift(serial);
}
