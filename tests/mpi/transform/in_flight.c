/* Linked into a rewritten program: reports every use of a buffer while its transfer is in flight.

   A posted receive fills its buffer with a pattern and receives elsewhere, so that an early read
   shows in the results and an early write is found at the wait. A send keeps a copy and compares.
   Transfers are known by the address of their request; one that C++ has copied into a list is known
   by its value from the moment its variable is used anew, and MPI_Finalize finds what was lost. C
   and Fortran (mpif.h, mpi) callers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct transfer {
    void *request;
    MPI_Request value; /* of C */
    char *buffer, *before, *data;
    size_t bytes;
    int receives, whole; /* whole: of a collective, which always fills its buffer */
};
static struct transfer table[1000];
static int used;

static struct transfer *part(void *request, void *buffer, size_t bytes, int receives)
{
    struct transfer *t = &table[used++];
    t->whole = 0;
    t->request = request;
    t->buffer = buffer;
    t->bytes = bytes;
    t->receives = receives;
    t->before = malloc(bytes + 1);
    t->data = malloc(bytes + 1);
    memcpy(t->before, buffer, bytes);
    memcpy(t->data, buffer, bytes);
    if (receives)
        memset(buffer, 0xff, bytes);
    return t;
}

static void fresh(void *request)
{
    for (int i = 0; i < used; i++)
        if (table[i].request == request) {
#ifdef COPIED
            if (!table[i].whole) {
                table[i].request = table[i].data; /* no address of a request */
                continue;
            }
#endif
            fprintf(stderr, "IN FLIGHT: a request is used twice\n");
            exit(99);
        }
}

static struct transfer *begin(void *request, void *buffer, size_t bytes, int receives)
{
    fresh(request);
    return part(request, buffer, bytes, receives);
}

/* One buffer of a collective: its stand-in, or none where this process has none. */
static void *collective(void *request, const void *buffer, size_t bytes, int receives)
{
    struct transfer *t = part(request, (void *)buffer, bytes, receives);
    t->whole = 1;
    return t->data;
}

static void finish(void *request, int received)
{
    for (int i = 0; i < used; i++) {
        struct transfer *t = &table[i];
        if (t->request != request)
            continue;
        int broken = 0;
        if (t->receives) {
            for (size_t k = 0; k < t->bytes; k++)
                broken |= (unsigned char)t->buffer[k] != 0xff;
            memcpy(t->buffer, t->before, t->bytes);
            memcpy(t->buffer, t->data, t->whole ? t->bytes : (size_t)received);
        } else {
            broken = memcmp(t->buffer, t->before, t->bytes) != 0;
        }
        if (broken) {
            fprintf(stderr, "IN FLIGHT: a %s buffer was written\n",
                    t->receives ? "receive" : "send");
            exit(99);
        }
        free(t->before);
        free(t->data);
        *t = table[--used];
        i--;
    }
}

#ifndef FORTRAN
/* The transfers that a call has started have this request. */
static int started(MPI_Request *request)
{
    for (int i = 0; i < used; i++)
        if (table[i].request == request)
            table[i].value = *request;
    return MPI_SUCCESS;
}

/* Whose request this is: the address that it is known by. */
static void *owner_of(MPI_Request *request)
{
    for (int i = 0; i < used; i++)
        if (table[i].request == request && table[i].value == *request)
            return request;
    for (int i = 0; i < used; i++)
        if (table[i].value == *request)
            return table[i].request;
    return NULL;
}

static size_t bytes_of(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (size_t)count * (size_t)size;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct transfer *t = begin(request, (void *)buffer, bytes_of(count, type), 0);
    PMPI_Isend(t->data, count, type, to, tag, comm, request);
    return started(request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct transfer *t = begin(request, buffer, bytes_of(count, type), 1);
    PMPI_Irecv(t->data, count, type, from, tag, comm, request);
    return started(request);
}

static int ranks(MPI_Comm comm, int *rank)
{
    int size;
    PMPI_Comm_rank(comm, rank);
    PMPI_Comm_size(comm, &size);
    return size;
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    int rank;
    ranks(comm, &rank);
    fresh(request);
    buffer = collective(request, buffer, bytes_of(count, type), rank != root);
    PMPI_Ibcast(buffer, count, type, root, comm, request);
    return started(request);
}

int MPI_Ialltoall(const void *out, int count, MPI_Datatype type, void *in, int incount,
                  MPI_Datatype intype, MPI_Comm comm, MPI_Request *request)
{
    int rank, size = ranks(comm, &rank);
    fresh(request);
    out = collective(request, out, (size_t)size * bytes_of(count, type), 0);
    in = collective(request, in, (size_t)size * bytes_of(incount, intype), 1);
    PMPI_Ialltoall(out, count, type, in, incount, intype, comm, request);
    return started(request);
}

int MPI_Igather(const void *out, int count, MPI_Datatype type, void *in, int incount,
                MPI_Datatype intype, int root, MPI_Comm comm, MPI_Request *request)
{
    int rank, size = ranks(comm, &rank);
    fresh(request);
    out = collective(request, out, bytes_of(count, type), 0);
    if (rank == root)
        in = collective(request, in, (size_t)size * bytes_of(incount, intype), 1);
    PMPI_Igather(out, count, type, in, incount, intype, root, comm, request);
    return started(request);
}

int MPI_Iallreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    fresh(request);
    out = collective(request, out, bytes_of(count, type), 0);
    in = collective(request, in, bytes_of(count, type), 1);
    PMPI_Iallreduce(out, in, count, type, op, comm, request);
    return started(request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status mine;
    int received = 0;
    void *owner = owner_of(request);
    for (int i = 0; i < used; i++)
        if (table[i].request == owner && table[i].whole) {
            PMPI_Wait(request, MPI_STATUS_IGNORE);
            finish(owner, 0);
            return MPI_SUCCESS;
        }
    PMPI_Wait(request, &mine);
    PMPI_Get_count(&mine, MPI_BYTE, &received);
    finish(owner, received);
    if (status != MPI_STATUS_IGNORE)
        *status = mine;
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    if (used) {
        fprintf(stderr, "IN FLIGHT: a request was never completed\n");
        exit(99);
    }
    return PMPI_Finalize();
}
#else
void pmpi_type_size_(int *, int *, int *);
void pmpi_isend_(void *, int *, int *, int *, int *, int *, int *, int *);
void pmpi_irecv_(void *, int *, int *, int *, int *, int *, int *, int *);
void pmpi_ibcast_(void *, int *, int *, int *, int *, int *, int *);
void pmpi_ialltoall_(void *, int *, int *, void *, int *, int *, int *, int *, int *);
void pmpi_igather_(void *, int *, int *, void *, int *, int *, int *, int *, int *, int *);
void pmpi_comm_rank_(int *, int *, int *);
void pmpi_comm_size_(int *, int *, int *);
void pmpi_wait_(int *, int *, int *);
void pmpi_get_count_(int *, int *, int *, int *);

static size_t bytes_of(int *count, int *type)
{
    int size, error;
    pmpi_type_size_(type, &size, &error);
    return (size_t)*count * (size_t)size;
}

void mpi_isend_(void *buffer, int *count, int *type, int *to, int *tag, int *comm, int *request,
                int *error)
{
    struct transfer *t = begin(request, buffer, bytes_of(count, type), 0);
    pmpi_isend_(t->data, count, type, to, tag, comm, request, error);
}

void mpi_irecv_(void *buffer, int *count, int *type, int *from, int *tag, int *comm, int *request,
                int *error)
{
    struct transfer *t = begin(request, buffer, bytes_of(count, type), 1);
    pmpi_irecv_(t->data, count, type, from, tag, comm, request, error);
}

static size_t ranks(int *comm, int *rank)
{
    int size, error;
    pmpi_comm_rank_(comm, rank, &error);
    pmpi_comm_size_(comm, &size, &error);
    return (size_t)size;
}

void mpi_ibcast_(void *buffer, int *count, int *type, int *root, int *comm, int *request,
                 int *error)
{
    int rank;
    ranks(comm, &rank);
    fresh(request);
    buffer = collective(request, buffer, bytes_of(count, type), rank != *root);
    pmpi_ibcast_(buffer, count, type, root, comm, request, error);
}

void mpi_ialltoall_(void *out, int *count, int *type, void *in, int *incount, int *intype,
                    int *comm, int *request, int *error)
{
    int rank;
    size_t size = ranks(comm, &rank);
    fresh(request);
    out = collective(request, out, size * bytes_of(count, type), 0);
    in = collective(request, in, size * bytes_of(incount, intype), 1);
    pmpi_ialltoall_(out, count, type, in, incount, intype, comm, request, error);
}

void mpi_igather_(void *out, int *count, int *type, void *in, int *incount, int *intype, int *root,
                  int *comm, int *request, int *error)
{
    int rank;
    size_t size = ranks(comm, &rank);
    fresh(request);
    out = collective(request, out, bytes_of(count, type), 0);
    if (rank == *root)
        in = collective(request, in, size * bytes_of(incount, intype), 1);
    pmpi_igather_(out, count, type, in, incount, intype, root, comm, request, error);
}

void mpi_wait_(int *request, int *status, int *error)
{
    int mine[64], received, type = (int)MPI_Type_c2f(MPI_BYTE);
    (void)status; /* the programs that are tested ignore it */
    pmpi_wait_(request, mine, error);
    for (int i = 0; i < used; i++)
        if (table[i].request == request && table[i].whole) {
            finish(request, 0);
            return;
        }
    pmpi_get_count_(mine, &type, &received, error);
    finish(request, received);
}

void mpi_waitall_(int *count, int *requests, int *statuses, int *error)
{
    (void)statuses;
    for (int i = 0; i < *count; i++)
        mpi_wait_(&requests[i], NULL, error);
}
#endif
