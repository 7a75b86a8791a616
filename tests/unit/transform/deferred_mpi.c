/* MPI for one process that moves data as late as it may: a message is read from its buffer when a
 * wait asks for it, a posted receive's buffer holds rubbish until its wait. What a program computes
 * with it shows whether a start, a wait or a computation stands where it must not.
 *
 * With DEFERRED_RANK=0 or 1 it is that one of two processes, and the other is made up: receives get
 * a pattern by their tag and order, and what is sent is summed up and printed at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN = 4096, TAGS = 64, GATHERED = 62, SPREAD };

struct imbrex_request {
    enum { SEND, RECEIVE, COLLECTIVE } kind;
    const void *from;
    void *to;
    size_t size;
    int tag, order; /* the how-manieth of its tag and kind: by that sends and receives match */
    int done;       /* a send whose data have been taken, a receive that has its data */
    int twice;      /* of a gathering: the other process brings the same */
    void *own;      /* of a send that blocked: its copy */
    int lasting;    /* persistent: it only says what to start */
    struct imbrex_request *active; /* what of it is under way */
};

static struct imbrex_request *list[OPEN]; /* sends that no receive has taken, in their order */
static int sends, posted[TAGS][2];
static unsigned long sent;

/* The rank beside a made-up process; -1 where the only process sends to itself. */
static int beside(void)
{
    const char *rank = getenv("DEFERRED_RANK");
    return rank ? atoi(rank) : -1;
}

static void make_up(void *to, size_t size, int tag, int order)
{
    double *values = to;
    for (size_t i = 0; i < size / sizeof *values; i++)
        values[i] = 0.01 * (double)(i % 50) + 0.125 * tag + 0.375 * (order % 11);
}

static void sum_up(const void *from, size_t size, int tag, int order)
{
    unsigned long hash = 5381 + 131 * (unsigned long)tag + (unsigned long)order;
    for (size_t i = 0; i < size; i++)
        hash = hash * 33 + ((const unsigned char *)from)[i];
    sent += hash ^ (hash >> 7); /* in any order */
}

static size_t bytes(int count, MPI_Datatype type)
{
    if (type != MPI_DOUBLE && type != MPI_INT)
        abort();
    return (size_t)count * (type == MPI_DOUBLE ? sizeof(double) : sizeof(int));
}

static MPI_Request open_request(int kind, const void *from, void *to, size_t size, int tag)
{
    MPI_Request made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->kind = kind;
    made->from = from;
    made->to = to;
    made->size = size;
    made->tag = tag;
    if (kind != COLLECTIVE)
        made->order = posted[tag][kind]++;
    if (kind != SEND)
        memset(to, 0xff, size);
    else if (beside() < 0 && sends < OPEN)
        list[sends++] = made;
    return made;
}

static void take(int position, void *to, size_t size)
{
    struct imbrex_request *send = list[position];
    memcpy(to, send->own ? send->own : send->from, size < send->size ? size : send->size);
    memmove(&list[position], &list[position + 1], (size_t)(sends - position - 1) * sizeof *list);
    sends--;
    send->done = 1;
    if (send->own) {
        free(send->own);
        free(send);
    }
}

static void receive(void *to, size_t size, int tag, int order)
{
    if (beside() >= 0) {
        make_up(to, size, tag, order);
        return;
    }
    for (int i = 0; i < sends; i++)
        if (list[i]->tag == tag && list[i]->order == order) {
            take(i, to, size);
            return;
        }
    fprintf(stderr, "deadlock: nothing was sent with tag %d\n", tag);
    exit(3);
}

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int MPI_Finalize(void)
{
    if (beside() >= 0)
        fprintf(stderr, "sent %lu\n", sent);
    if (sends) {
        fprintf(stderr, "%d messages were not received\n", sends);
        exit(4);
    }
    return 0;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = beside() > 0;
    return 0;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = beside() < 0 ? 1 : 2;
    return 0;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)to, (void)comm;
    *request = open_request(SEND, buffer, NULL, bytes(count, type), tag);
    return 0;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Isend(buffer, count, type, to, tag, comm, &request);
    request->own = malloc(request->size);
    if (!request->own)
        abort();
    memcpy(request->own, buffer, request->size);
    return beside() < 0 ? 0 : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)from, (void)comm;
    *request = open_request(RECEIVE, NULL, buffer, bytes(count, type), tag);
    return 0;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    (void)from, (void)comm, (void)status;
    receive(buffer, bytes(count, type), tag, posted[tag][RECEIVE]++);
    return 0;
}

int MPI_Sendrecv(const void *out, int count, MPI_Datatype type, int to, int tag, void *in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Send(out, count, type, to, tag, comm);
    return MPI_Recv(in, in_count, in_type, from, in_tag, comm, status);
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Send(buffer, count, type, to, tag, comm);
    return MPI_Recv(buffer, count, type, from, in_tag, comm, status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct imbrex_request *mine = *request;
    (void)status;
    if (mine == MPI_REQUEST_NULL)
        return 0;
    if (mine->lasting) {
        int failed = MPI_Wait(&mine->active, status);
        mine->active = MPI_REQUEST_NULL;
        return failed;
    }
    if (mine->kind == RECEIVE) {
        receive(mine->to, mine->size, mine->tag, mine->order);
    } else if (mine->kind == COLLECTIVE) {
        memcpy(mine->to, mine->from, mine->size);
        if (mine->twice)
            memcpy((char *)mine->to + mine->size, mine->from, mine->size);
    } else if (beside() >= 0) {
        sum_up(mine->own ? mine->own : mine->from, mine->size, mine->tag, mine->order);
        free(mine->own);
    } else if (!mine->done) {
        mine->own = malloc(mine->size); /* it may be reused from now on */
        if (!mine->own)
            abort();
        memcpy(mine->own, mine->from, mine->size);
        *request = MPI_REQUEST_NULL;
        return 0;
    }
    free(mine);
    *request = MPI_REQUEST_NULL;
    return 0;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    (void)statuses;
    for (int i = 0; i < count; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return 0;
}

static int lasting(int kind, const void *from, void *to, size_t size, int tag, MPI_Request *request)
{
    MPI_Request made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->kind = kind;
    made->from = from;
    made->to = to;
    made->size = size;
    made->tag = tag;
    made->lasting = 1;
    *request = made;
    return 0;
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    (void)to, (void)comm;
    return lasting(SEND, buffer, NULL, bytes(count, type), tag, request);
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    (void)from, (void)comm;
    return lasting(RECEIVE, NULL, buffer, bytes(count, type), tag, request);
}

int MPI_Start(MPI_Request *request)
{
    MPI_Request mine = *request;
    if (mine->active != MPI_REQUEST_NULL) {
        fprintf(stderr, "a request is started that is under way\n");
        exit(5);
    }
    mine->active = open_request(mine->kind, mine->from, mine->to, mine->size, mine->tag);
    return 0;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        MPI_Start(&requests[i]);
    return 0;
}

int MPI_Request_free(MPI_Request *request)
{
    if ((*request)->active != MPI_REQUEST_NULL) {
        fprintf(stderr, "a request is freed that is under way\n");
        exit(6);
    }
    free(*request);
    *request = MPI_REQUEST_NULL;
    return 0;
}

static int start(const void *from, void *to, size_t size, MPI_Request *request)
{
    *request = open_request(COLLECTIVE, from, to, size, 0);
    return 0;
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    (void)op, (void)comm;
    return start(in, out, bytes(count, type), request);
}

int MPI_Ialltoall(const void *in, int count, MPI_Datatype type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    (void)count, (void)type, (void)comm;
    return start(in, out, bytes(out_count, out_type) * (beside() < 0 ? 1 : 2), request);
}

int MPI_Igather(const void *in, int count, MPI_Datatype type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request)
{
    (void)comm, (void)out_type;
    if (beside() >= 0 && beside() != root)
        return MPI_Isend(in, count, type, root, GATHERED, comm, request);
    start(in, out, bytes(out_count, type), request);
    (*request)->twice = beside() >= 0;
    if (beside() >= 0)
        memset((char *)out + (*request)->size, 0xff, (*request)->size);
    return 0;
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    if (beside() < 0 || beside() == root)
        return MPI_Isend(buffer, count, type, root, SPREAD, comm, request);
    return MPI_Irecv(buffer, count, type, root, SPREAD, comm, request);
}

int MPI_Gather(const void *in, int count, MPI_Datatype type, void *out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Igather(in, count, type, out, out_count, out_type, root, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ibcast(buffer, count, type, root, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Ireduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    (void)root;
    return MPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Iallreduce(in, out, count, type, op, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    (void)root;
    return MPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Alltoall(const void *in, int count, MPI_Datatype type, void *out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ialltoall(in, count, type, out, out_count, out_type, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* From Fortran: a request is its place in a table, datatypes and operations are mpif.h's. */
static MPI_Request known[OPEN];

static MPI_Datatype type_of(const int *type)
{
    return *type == 17 ? MPI_DOUBLE : MPI_INT;
}

static int entered(MPI_Request request)
{
    for (int i = 0; i < OPEN; i++)
        if (known[i] == MPI_REQUEST_NULL) {
            known[i] = request;
            return i;
        }
    abort();
}

void mpi_init_(int *error)
{
    *error = MPI_Init(NULL, NULL);
}

void mpi_finalize_(int *error)
{
    *error = MPI_Finalize();
}

void mpi_comm_rank_(int *comm, int *rank, int *error)
{
    (void)comm;
    *error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
}

void mpi_comm_size_(int *comm, int *size, int *error)
{
    (void)comm;
    *error = MPI_Comm_size(MPI_COMM_WORLD, size);
}

void mpi_get_address_(void *place, long *address, int *error)
{
    *error = 0;
    *address = (long)place;
}

void mpi_isend_(void *buffer, int *count, int *type, int *to, int *tag, int *comm, int *request,
                int *error)
{
    MPI_Request made;
    (void)comm;
    *error = MPI_Isend(buffer, *count, type_of(type), *to, *tag, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_send_(void *buffer, int *count, int *type, int *to, int *tag, int *comm, int *error)
{
    (void)comm;
    *error = MPI_Send(buffer, *count, type_of(type), *to, *tag, MPI_COMM_WORLD);
}

void mpi_irecv_(void *buffer, int *count, int *type, int *from, int *tag, int *comm, int *request,
                int *error)
{
    MPI_Request made;
    (void)comm;
    *error = MPI_Irecv(buffer, *count, type_of(type), *from, *tag, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_recv_(void *buffer, int *count, int *type, int *from, int *tag, int *comm, int *status,
               int *error)
{
    (void)comm, (void)status;
    *error = MPI_Recv(buffer, *count, type_of(type), *from, *tag, MPI_COMM_WORLD, NULL);
}

void mpi_sendrecv_(void *out, int *count, int *type, int *to, int *tag, void *in, int *in_count,
                   int *in_type, int *from, int *in_tag, int *comm, int *status, int *error)
{
    mpi_send_(out, count, type, to, tag, comm, error);
    mpi_recv_(in, in_count, in_type, from, in_tag, comm, status, error);
}

void mpi_sendrecv_replace_(void *buffer, int *count, int *type, int *to, int *tag, int *from,
                           int *in_tag, int *comm, int *status, int *error)
{
    mpi_send_(buffer, count, type, to, tag, comm, error);
    mpi_recv_(buffer, count, type, from, in_tag, comm, status, error);
}

void mpi_wait_(int *request, int *status, int *error)
{
    (void)status;
    *error = 0;
    if (*request < 0)
        return;
    MPI_Wait(&known[*request], MPI_STATUS_IGNORE);
    if (known[*request] == MPI_REQUEST_NULL)
        *request = -1;
}

void mpi_send_init_(void *buffer, int *count, int *type, int *to, int *tag, int *comm, int *request,
                    int *error)
{
    MPI_Request made;
    (void)comm;
    *error = MPI_Send_init(buffer, *count, type_of(type), *to, *tag, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_recv_init_(void *buffer, int *count, int *type, int *from, int *tag, int *comm,
                    int *request, int *error)
{
    MPI_Request made;
    (void)comm;
    *error = MPI_Recv_init(buffer, *count, type_of(type), *from, *tag, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_start_(int *request, int *error)
{
    *error = MPI_Start(&known[*request]);
}

void mpi_startall_(int *count, int *requests, int *error)
{
    for (int i = 0; i < *count; i++)
        mpi_start_(&requests[i], error);
}

void mpi_request_free_(int *request, int *error)
{
    *error = MPI_Request_free(&known[*request]);
    *request = -1;
}

void mpi_waitall_(int *count, int *requests, int *statuses, int *error)
{
    for (int i = 0; i < *count; i++)
        mpi_wait_(&requests[i], statuses, error);
}

void mpi_iallreduce_(void *in, void *out, int *count, int *type, int *op, int *comm, int *request,
                     int *error)
{
    MPI_Request made;
    (void)op, (void)comm;
    *error = MPI_Iallreduce(in, out, *count, type_of(type), MPI_SUM, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_allreduce_(void *in, void *out, int *count, int *type, int *op, int *comm, int *error)
{
    (void)op, (void)comm;
    *error = MPI_Allreduce(in, out, *count, type_of(type), MPI_SUM, MPI_COMM_WORLD);
}

void mpi_ialltoall_(void *in, int *count, int *type, void *out, int *out_count, int *out_type,
                    int *comm, int *request, int *error)
{
    MPI_Request made;
    (void)comm, (void)out_type;
    *error = MPI_Ialltoall(in, *count, type_of(type), out, *out_count, type_of(type),
                           MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_alltoall_(void *in, int *count, int *type, void *out, int *out_count, int *out_type,
                   int *comm, int *error)
{
    int request;
    mpi_ialltoall_(in, count, type, out, out_count, out_type, comm, &request, error);
    mpi_wait_(&request, NULL, error);
}

void mpi_igather_(void *in, int *count, int *type, void *out, int *out_count, int *out_type,
                  int *root, int *comm, int *request, int *error)
{
    MPI_Request made;
    (void)comm, (void)out_type;
    *error = MPI_Igather(in, *count, type_of(type), out, *out_count, type_of(type), *root,
                         MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_gather_(void *in, int *count, int *type, void *out, int *out_count, int *out_type,
                 int *root, int *comm, int *error)
{
    int request;
    mpi_igather_(in, count, type, out, out_count, out_type, root, comm, &request, error);
    mpi_wait_(&request, NULL, error);
}

void mpi_ibcast_(void *buffer, int *count, int *type, int *root, int *comm, int *request,
                 int *error)
{
    MPI_Request made;
    (void)comm;
    *error = MPI_Ibcast(buffer, *count, type_of(type), *root, MPI_COMM_WORLD, &made);
    *request = entered(made);
}

void mpi_bcast_(void *buffer, int *count, int *type, int *root, int *comm, int *error)
{
    int request;
    mpi_ibcast_(buffer, count, type, root, comm, &request, error);
    mpi_wait_(&request, NULL, error);
}
