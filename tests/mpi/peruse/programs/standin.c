/* A stand-in for an MPI library with PERUSE: it raises the events of messages that the true library
 * below moves, a receive's begin and end when a call polls. Two ranks; collectives are one
 * exchange.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

typedef struct specification {
    MPI_Comm comm;
    void *buffer;
    int count;
    MPI_Datatype datatype;
    int peer, tag, operation;
} specification;

typedef int (*callback)(void *, MPI_Aint, specification *, void *);

enum { SEND, RECEIVE };
enum { ACTIVATE = 3, BEGIN = 7, END = 8 }; /* numbers of its own */

typedef struct handle {
    int event, active;
    MPI_Comm comm;
    callback function;
    void *data;
} handle;

static handle handles[64];
static int handle_count;

int PERUSE_Init(void)
{
    return 0;
}

int PERUSE_Query_event(const char *name, int *event)
{
    *event = !strcmp(name, "PERUSE_COMM_REQ_ACTIVATE")     ? ACTIVATE
             : !strcmp(name, "PERUSE_COMM_REQ_XFER_BEGIN") ? BEGIN
             : !strcmp(name, "PERUSE_COMM_REQ_XFER_END")   ? END
                                                           : -1;
    return *event < 0;
}

int PERUSE_Event_comm_register(int event, MPI_Comm comm, callback function, void *data, void **h)
{
    if (handle_count == 64)
        return 1;
    handles[handle_count] = (handle){event, 0, comm, function, data};
    *h = &handles[handle_count++];
    return 0;
}

int PERUSE_Event_activate(void *h)
{
    ((handle *)h)->active = 1;
    return 0;
}

static void raise_event(int event, MPI_Aint id, specification *message)
{
    int bytes = 0;
    PMPI_Type_size(message->datatype, &bytes);
    if (event != ACTIVATE && (long)bytes * message->count == 0)
        return;
    for (int i = 0; i < handle_count; i++)
        if (handles[i].active && handles[i].event == event && handles[i].comm == message->comm)
            handles[i].function(&handles[i], id, message, handles[i].data);
}

static struct {
    MPI_Request request;
    specification message;
} open_ones[64];

static void post(MPI_Request request, specification message)
{
    for (int i = 0; i < 64; i++)
        if (!open_ones[i].message.buffer) {
            open_ones[i].request = request;
            open_ones[i].message = message;
            break;
        }
    raise_event(ACTIVATE, (MPI_Aint)request, &message);
}

static void poll(void)
{
    for (int i = 0; i < 64; i++) {
        int done = 0;
        if (!open_ones[i].message.buffer)
            continue;
        PMPI_Request_get_status(open_ones[i].request, &done, MPI_STATUS_IGNORE);
        if (!done)
            continue;
        raise_event(BEGIN, (MPI_Aint)open_ones[i].request, &open_ones[i].message);
        raise_event(END, (MPI_Aint)open_ones[i].request, &open_ones[i].message);
        open_ones[i].message.buffer = NULL;
    }
}

int PMPI_Init(int *argc, char ***argv)
{
    REAL(PMPI_Init);
    return real(argc, argv);
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    /* a send that waits for its receiver has a request of its own */
    int result = PMPI_Issend(buf, count, type, peer, tag, comm, request);
    post(*request, (specification){comm, (void *)buf, count, type, peer, tag, SEND});
    return result;
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    REAL(PMPI_Irecv);
    int result = real(buf, count, type, peer, tag, comm, request);
    post(*request, (specification){comm, buf, count, type, peer, tag, RECEIVE});
    return result;
}

int PMPI_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    REAL(PMPI_Iprobe);
    poll();
    return real(peer, tag, comm, flag, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    REAL(PMPI_Wait);
    int done = 0;
    while (!done)
        PMPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    poll();
    return real(request, status);
}

int PMPI_Recv(void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    MPI_Request request;
    PMPI_Irecv(buf, count, type, peer, tag, comm, &request);
    return PMPI_Wait(&request, status);
}

int PMPI_Send(const void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    MPI_Request request;
    PMPI_Isend(buf, count, type, peer, tag, comm, &request);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Collectives of two ranks are messages too, with tags that are not a program's. */

static void exchange(int event, void *buf, int count, MPI_Datatype type, MPI_Comm comm, int both)
{
    static char ids[2];
    int rank;
    PMPI_Comm_rank(comm, &rank);
    specification message = {comm, buf, count, type, 1 - rank, -20, SEND};
    if (both || rank == 0)
        raise_event(event, (MPI_Aint)&ids[0], &message);
    message.operation = RECEIVE;
    if (both || rank == 1)
        raise_event(event, (MPI_Aint)&ids[1], &message);
}

int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm)
{
    REAL(PMPI_Allreduce);
    exchange(ACTIVATE, out, count, type, comm, 1);
    int result = real(in, out, count, type, op, comm);
    exchange(BEGIN, out, count, type, comm, 1);
    exchange(END, out, count, type, comm, 1);
    return result;
}

int PMPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    REAL(PMPI_Bcast);
    exchange(ACTIVATE, buf, count, type, comm, 0);
    int result = real(buf, count, type, root, comm);
    exchange(BEGIN, buf, count, type, comm, 0);
    exchange(END, buf, count, type, comm, 0);
    return result;
}
