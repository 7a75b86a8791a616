/* The calls of the mini-apps in Fortran, each passed on to that of C. A simulator's own do so
 * within its library, past the runtime that is linked into the program. No app reads a status. */
#include <mpi.h>

typedef MPI_Fint F;

static void begun(MPI_Request made, F *request)
{
    *request = MPI_Request_c2f(made);
}

static void ended(F *request)
{
    *request = MPI_Request_c2f(MPI_REQUEST_NULL);
}

void mpi_init_(F *error)
{
    *error = MPI_Init(NULL, NULL);
}

void mpi_finalize_(F *error)
{
    *error = MPI_Finalize();
}

void mpi_barrier_(F *comm, F *error)
{
    *error = MPI_Barrier(MPI_Comm_f2c(*comm));
}

void mpi_cart_create_(F *comm, F *axes, F *extents, F *periods, F *reorder, F *made, F *error)
{
    MPI_Comm grid;
    *error = MPI_Cart_create(MPI_Comm_f2c(*comm), *axes, extents, periods, *reorder, &grid);
    *made = MPI_Comm_c2f(grid);
}

void mpi_allreduce_(void *in, void *out, F *count, F *type, F *operation, F *comm, F *error)
{
    *error = MPI_Allreduce(in, out, *count, MPI_Type_f2c(*type), MPI_Op_f2c(*operation),
                           MPI_Comm_f2c(*comm));
}

void mpi_send_(void *data, F *count, F *type, F *to, F *tag, F *comm, F *error)
{
    *error = MPI_Send(data, *count, MPI_Type_f2c(*type), *to, *tag, MPI_Comm_f2c(*comm));
}

void mpi_recv_(void *data, F *count, F *type, F *from, F *tag, F *comm, F *status, F *error)
{
    (void)status;
    *error = MPI_Recv(data, *count, MPI_Type_f2c(*type), *from, *tag, MPI_Comm_f2c(*comm),
                      MPI_STATUS_IGNORE);
}

void mpi_sendrecv_(void *out, F *out_count, F *out_type, F *to, F *out_tag, void *in, F *in_count,
                   F *in_type, F *from, F *in_tag, F *comm, F *status, F *error)
{
    (void)status;
    *error = MPI_Sendrecv(out, *out_count, MPI_Type_f2c(*out_type), *to, *out_tag, in, *in_count,
                          MPI_Type_f2c(*in_type), *from, *in_tag, MPI_Comm_f2c(*comm),
                          MPI_STATUS_IGNORE);
}

void mpi_isend_(void *data, F *count, F *type, F *to, F *tag, F *comm, F *request, F *error)
{
    MPI_Request made;
    *error = MPI_Isend(data, *count, MPI_Type_f2c(*type), *to, *tag, MPI_Comm_f2c(*comm), &made);
    begun(made, request);
}

void mpi_irecv_(void *data, F *count, F *type, F *from, F *tag, F *comm, F *request, F *error)
{
    MPI_Request made;
    *error = MPI_Irecv(data, *count, MPI_Type_f2c(*type), *from, *tag, MPI_Comm_f2c(*comm), &made);
    begun(made, request);
}

void mpi_wait_(F *request, F *status, F *error)
{
    MPI_Request open = MPI_Request_f2c(*request);
    (void)status;
    *error = MPI_Wait(&open, MPI_STATUS_IGNORE);
    ended(request);
}

void mpi_waitall_(F *count, F *requests, F *statuses, F *error)
{
    enum { MOST = 16 };
    MPI_Request open[MOST];
    (void)statuses;
    if (*count > MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (F i = 0; i < *count; i++)
        open[i] = MPI_Request_f2c(requests[i]);
    *error = MPI_Waitall(*count, open, MPI_STATUSES_IGNORE);
    for (F i = 0; i < *count; i++)
        ended(&requests[i]);
}
