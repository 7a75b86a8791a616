/* Calls that end an interval of computation and whose buffers are not followed. */
#include "calls.h"

#define CALL(name, parameters, arguments)                                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        ixa_enter("MPI_" #name, IXA_SITE);                                                         \
        int result = PMPI_##name arguments;                                                        \
        ixa_exit();                                                                                \
        return result;                                                                             \
    }

typedef MPI_Datatype T;
typedef MPI_Comm C;

CALL(Barrier, (C c), (c))
CALL(Bcast, (void *b, int n, T t, int r, C c), (b, n, t, r, c))
CALL(Allreduce, (const void *s, void *d, int n, T t, MPI_Op o, C c), (s, d, n, t, o, c))
CALL(Reduce, (const void *s, void *d, int n, T t, MPI_Op o, int r, C c), (s, d, n, t, o, r, c))
CALL(Scan, (const void *s, void *d, int n, T t, MPI_Op o, C c), (s, d, n, t, o, c))
CALL(Exscan, (const void *s, void *d, int n, T t, MPI_Op o, C c), (s, d, n, t, o, c))
CALL(Reduce_scatter_block, (const void *s, void *d, int n, T t, MPI_Op o, C c), (s, d, n, t, o, c))
CALL(Reduce_scatter, (const void *s, void *d, const int n[], T t, MPI_Op o, C c),
     (s, d, n, t, o, c))
CALL(Gather, (const void *s, int n, T t, void *d, int m, T u, int r, C c), (s, n, t, d, m, u, r, c))
CALL(Scatter, (const void *s, int n, T t, void *d, int m, T u, int r, C c),
     (s, n, t, d, m, u, r, c))
CALL(Allgather, (const void *s, int n, T t, void *d, int m, T u, C c), (s, n, t, d, m, u, c))
CALL(Alltoall, (const void *s, int n, T t, void *d, int m, T u, C c), (s, n, t, d, m, u, c))
CALL(Allgatherv, (const void *s, int n, T t, void *d, const int m[], const int p[], T u, C c),
     (s, n, t, d, m, p, u, c))
CALL(Gatherv, (const void *s, int n, T t, void *d, const int m[], const int p[], T u, int r, C c),
     (s, n, t, d, m, p, u, r, c))
CALL(Scatterv, (const void *s, const int n[], const int p[], T t, void *d, int m, T u, int r, C c),
     (s, n, p, t, d, m, u, r, c))
CALL(Alltoallv,
     (const void *s, const int n[], const int p[], T t, void *d, const int m[], const int q[], T u,
      C c),
     (s, n, p, t, d, m, q, u, c))
CALL(Ibarrier, (C c, MPI_Request *q), (c, q))
CALL(Ibcast, (void *b, int n, T t, int r, C c, MPI_Request *q), (b, n, t, r, c, q))
CALL(Iallreduce, (const void *s, void *d, int n, T t, MPI_Op o, C c, MPI_Request *q),
     (s, d, n, t, o, c, q))
CALL(Ialltoall, (const void *s, int n, T t, void *d, int m, T u, C c, MPI_Request *q),
     (s, n, t, d, m, u, c, q))
CALL(Iallgather, (const void *s, int n, T t, void *d, int m, T u, C c, MPI_Request *q),
     (s, n, t, d, m, u, c, q))
CALL(Probe, (int p, int t, C c, MPI_Status *s), (p, t, c, s))
CALL(Comm_dup, (C c, C *d), (c, d))
CALL(Comm_split, (C c, int o, int k, C *d), (c, o, k, d))
CALL(Comm_free, (C * c), (c))
CALL(Pack, (const void *s, int n, T t, void *d, int m, int *p, C c), (s, n, t, d, m, p, c))
CALL(Unpack, (const void *s, int m, int *p, void *d, int n, T t, C c), (s, m, p, d, n, t, c))
CALL(Win_fence, (int a, MPI_Win w), (a, w))

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    ixa_poll();
    int result = PMPI_Iprobe(source, tag, comm, flag, status);
    ixa_polled(*flag, "MPI_Iprobe", IXA_SITE);
    ixa_exit();
    return result;
}
