/* The Fortran names (mpif.h and the module mpi) of the same functions: they need not pass through
 * the C ones. The library's are weak here: a C program has none of them. */
#include "calls.h"

#include <stdlib.h>

typedef MPI_Fint F;

#define WEAK(name, parameters) void name parameters __attribute__((weak));
#define CALL(name, parameters, arguments)                                                          \
    WEAK(p##name, parameters)                                                                      \
    void name parameters                                                                           \
    {                                                                                              \
        ixa_enter(#name, IXA_SITE);                                                                \
        p##name arguments;                                                                         \
        ixa_exit();                                                                                \
    }

WEAK(pmpi_init_, (F * e))
void mpi_init_(F *e)
{
    pmpi_init_(e);
    ixa_job_start();
}

WEAK(pmpi_init_thread_, (F * required, F *provided, F *e))
void mpi_init_thread_(F *required, F *provided, F *e)
{
    pmpi_init_thread_(required, provided, e);
    ixa_job_start();
}

WEAK(pmpi_finalize_, (F * e))
void mpi_finalize_(F *e)
{
    ixa_job_end();
    pmpi_finalize_(e);
}

#define SEND(name)                                                                                 \
    WEAK(p##name, (void *b, F *n, F *t, F *to, F *tag, F *c, F *e))                                \
    void name(void *b, F *n, F *t, F *to, F *tag, F *c, F *e)                                      \
    {                                                                                              \
        ixa_enter(#name, IXA_SITE);                                                                \
        ixa_send(IXA_SITE, b, *n, MPI_Type_f2c(*t), *to, *tag, MPI_Comm_f2c(*c));                  \
        p##name(b, n, t, to, tag, c, e);                                                           \
        ixa_exit();                                                                                \
    }
SEND(mpi_send_)
SEND(mpi_ssend_)
SEND(mpi_rsend_)
SEND(mpi_bsend_)

#define ISEND(name)                                                                                \
    WEAK(p##name, (void *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *e))                          \
    void name(void *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *e)                                \
    {                                                                                              \
        ixa_enter(#name, IXA_SITE);                                                                \
        ixa_send(IXA_SITE, b, *n, MPI_Type_f2c(*t), *to, *tag, MPI_Comm_f2c(*c));                  \
        p##name(b, n, t, to, tag, c, r, e);                                                        \
        ixa_exit();                                                                                \
    }
ISEND(mpi_isend_)
ISEND(mpi_issend_)

WEAK(pmpi_irecv_, (void *b, F *n, F *t, F *from, F *tag, F *c, F *r, F *e))
void mpi_irecv_(void *b, F *n, F *t, F *from, F *tag, F *c, F *r, F *e)
{
    ixa_enter("mpi_irecv_", IXA_SITE);
    ixa_receive_t receive =
        ixa_post(IXA_SITE, b, *n, MPI_Type_f2c(*t), *from, *tag, MPI_Comm_f2c(*c));
    pmpi_irecv_(b, n, t, from, tag, c, r, e);
    ixa_remember(MPI_Request_f2c(*r), receive);
    ixa_exit();
}

WEAK(pmpi_recv_, (void *b, F *n, F *t, F *from, F *tag, F *c, F *s, F *e))
void mpi_recv_(void *b, F *n, F *t, F *from, F *tag, F *c, F *s, F *e)
{
    ixa_enter("mpi_recv_", IXA_SITE);
    ixa_receive_t receive =
        ixa_post(IXA_SITE, b, *n, MPI_Type_f2c(*t), *from, *tag, MPI_Comm_f2c(*c));
    pmpi_recv_(b, n, t, from, tag, c, s, e);
    ixa_arrived(receive);
    ixa_exit();
}

WEAK(pmpi_sendrecv_, (void *b, F *n, F *t, F *to, F *tag, void *rb, F *rn, F *rt, F *from, F *rtag,
                      F *c, F *s, F *e))
void mpi_sendrecv_(void *b, F *n, F *t, F *to, F *tag, void *rb, F *rn, F *rt, F *from, F *rtag,
                   F *c, F *s, F *e)
{
    ixa_enter("mpi_sendrecv_", IXA_SITE);
    ixa_send(IXA_SITE, b, *n, MPI_Type_f2c(*t), *to, *tag, MPI_Comm_f2c(*c));
    ixa_receive_t receive =
        ixa_post(IXA_SITE, rb, *rn, MPI_Type_f2c(*rt), *from, *rtag, MPI_Comm_f2c(*c));
    pmpi_sendrecv_(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s, e);
    ixa_arrived(receive);
    ixa_exit();
}

/* ---- Completion -------------------------------------------------------------------------------
 */

WEAK(pmpi_wait_, (F * r, F *s, F *e))
void mpi_wait_(F *r, F *s, F *e)
{
    ixa_enter("mpi_wait_", IXA_SITE);
    MPI_Request handle = MPI_Request_f2c(*r);
    pmpi_wait_(r, s, e);
    ixa_arrived(ixa_completed(handle));
    ixa_exit();
}

WEAK(pmpi_test_, (F * r, F *flag, F *s, F *e))
void mpi_test_(F *r, F *flag, F *s, F *e)
{
    ixa_poll();
    MPI_Request handle = MPI_Request_f2c(*r);
    pmpi_test_(r, flag, s, e);
    ixa_polled(*flag, "mpi_test_", IXA_SITE);
    if (*flag)
        ixa_arrived(ixa_completed(handle));
    ixa_exit();
}

/* The C handles of before the call, which overwrites the Fortran ones. NULL without memory. */
static MPI_Request *copy(F count, const F *requests)
{
    MPI_Request *handles = malloc((size_t)(count > 0 ? count : 1) * sizeof *handles);
    for (F i = 0; handles && i < count; i++)
        handles[i] = MPI_Request_f2c(requests[i]);
    return handles;
}

WEAK(pmpi_waitall_, (F * n, F *r, F *s, F *e))
void mpi_waitall_(F *n, F *r, F *s, F *e)
{
    ixa_enter("mpi_waitall_", IXA_SITE);
    MPI_Request *handles = copy(*n, r);
    pmpi_waitall_(n, r, s, e);
    for (F i = 0; handles && i < *n; i++)
        ixa_arrived(ixa_completed(handles[i]));
    free(handles);
    ixa_exit();
}

WEAK(pmpi_waitany_, (F * n, F *r, F *index, F *s, F *e))
void mpi_waitany_(F *n, F *r, F *index, F *s, F *e)
{
    ixa_enter("mpi_waitany_", IXA_SITE);
    MPI_Request *handles = copy(*n, r);
    pmpi_waitany_(n, r, index, s, e);
    if (handles && *index >= 1 && *index <= *n)
        ixa_arrived(ixa_completed(handles[*index - 1]));
    free(handles);
    ixa_exit();
}

/* ---- Buffers not followed ---------------------------------------------------------------------
 */

CALL(mpi_barrier_, (F * c, F *e), (c, e))
CALL(mpi_bcast_, (void *b, F *n, F *t, F *r, F *c, F *e), (b, n, t, r, c, e))
CALL(mpi_allreduce_, (void *i, void *o, F *n, F *t, F *op, F *c, F *e), (i, o, n, t, op, c, e))
CALL(mpi_reduce_, (void *i, void *o, F *n, F *t, F *op, F *r, F *c, F *e),
     (i, o, n, t, op, r, c, e))
CALL(mpi_allgather_, (void *s, F *n, F *t, void *d, F *m, F *u, F *c, F *e),
     (s, n, t, d, m, u, c, e))
CALL(mpi_alltoall_, (void *s, F *n, F *t, void *d, F *m, F *u, F *c, F *e),
     (s, n, t, d, m, u, c, e))
CALL(mpi_gather_, (void *s, F *n, F *t, void *d, F *m, F *u, F *r, F *c, F *e),
     (s, n, t, d, m, u, r, c, e))
CALL(mpi_scatter_, (void *s, F *n, F *t, void *d, F *m, F *u, F *r, F *c, F *e),
     (s, n, t, d, m, u, r, c, e))
CALL(mpi_probe_, (F * p, F *t, F *c, F *s, F *e), (p, t, c, s, e))

WEAK(pmpi_iprobe_, (F * p, F *t, F *c, F *f, F *s, F *e))
void mpi_iprobe_(F *p, F *t, F *c, F *f, F *s, F *e)
{
    ixa_poll();
    pmpi_iprobe_(p, t, c, f, s, e);
    ixa_polled(*f, "mpi_iprobe_", IXA_SITE);
    ixa_exit();
}
