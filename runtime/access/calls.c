/* The C functions that move point-to-point messages. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    ixa_job_start();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    ixa_job_start();
    return result;
}

int MPI_Finalize(void)
{
    ixa_job_end();
    return PMPI_Finalize();
}

#define SEND(name)                                                                                 \
    int MPI_##name(const void *buf, int count, MPI_Datatype type, int dest, int tag,               \
                   MPI_Comm comm)                                                                  \
    {                                                                                              \
        ixa_enter("MPI_" #name, IXA_SITE);                                                         \
        ixa_send(IXA_SITE, buf, count, type, dest, tag, comm);                                     \
        int result = PMPI_##name(buf, count, type, dest, tag, comm);                               \
        ixa_exit();                                                                                \
        return result;                                                                             \
    }
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

#define ISEND(name)                                                                                \
    int MPI_##name(const void *buf, int count, MPI_Datatype type, int dest, int tag,               \
                   MPI_Comm comm, MPI_Request *request)                                            \
    {                                                                                              \
        ixa_enter("MPI_" #name, IXA_SITE);                                                         \
        ixa_send(IXA_SITE, buf, count, type, dest, tag, comm);                                     \
        int result = PMPI_##name(buf, count, type, dest, tag, comm, request);                      \
        ixa_exit();                                                                                \
        return result;                                                                             \
    }
ISEND(Isend)
ISEND(Issend)
ISEND(Irsend)
ISEND(Ibsend)

#define SEND_INIT(name)                                                                            \
    int MPI_##name(const void *buf, int count, MPI_Datatype type, int dest, int tag,               \
                   MPI_Comm comm, MPI_Request *request)                                            \
    {                                                                                              \
        ixa_enter("MPI_" #name, IXA_SITE);                                                         \
        int result = PMPI_##name(buf, count, type, dest, tag, comm, request);                      \
        ixa_remember_persistent(                                                                   \
            (ixa_persistent_t){*request, (void *)buf, 1, count, dest, tag, type, comm});           \
        ixa_exit();                                                                                \
        return result;                                                                             \
    }
SEND_INIT(Send_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)
SEND_INIT(Bsend_init)

int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ixa_enter("MPI_Recv_init", IXA_SITE);
    int result = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    ixa_remember_persistent((ixa_persistent_t){*request, buf, 0, count, source, tag, type, comm});
    ixa_exit();
    return result;
}

int MPI_Start(MPI_Request *request)
{
    ixa_enter("MPI_Start", IXA_SITE);
    ixa_started(IXA_SITE, *request);
    int result = PMPI_Start(request);
    ixa_exit();
    return result;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    ixa_enter("MPI_Startall", IXA_SITE);
    for (int i = 0; i < count; i++)
        ixa_started(IXA_SITE, requests[i]);
    int result = PMPI_Startall(count, requests);
    ixa_exit();
    return result;
}

int MPI_Request_free(MPI_Request *request)
{
    ixa_enter("MPI_Request_free", IXA_SITE);
    ixa_forget(*request);
    int result = PMPI_Request_free(request);
    ixa_exit();
    return result;
}

int MPI_Cancel(MPI_Request *request)
{
    ixa_enter("MPI_Cancel", IXA_SITE);
    ixa_completed(*request);
    int result = PMPI_Cancel(request);
    ixa_exit();
    return result;
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    ixa_enter("MPI_Recv", IXA_SITE);
    ixa_receive_t receive = ixa_post(IXA_SITE, buf, count, type, source, tag, comm);
    int result = PMPI_Recv(buf, count, type, source, tag, comm, status);
    ixa_arrived(receive);
    ixa_exit();
    return result;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    ixa_enter("MPI_Irecv", IXA_SITE);
    ixa_receive_t receive = ixa_post(IXA_SITE, buf, count, type, source, tag, comm);
    int result = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    ixa_remember(*request, receive);
    ixa_exit();
    return result;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    ixa_enter("MPI_Sendrecv", IXA_SITE);
    ixa_send(IXA_SITE, sendbuf, sendcount, sendtype, dest, sendtag, comm);
    ixa_receive_t receive = ixa_post(IXA_SITE, recvbuf, recvcount, recvtype, source, recvtag, comm);
    int result = PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                               recvtype, source, recvtag, comm, status);
    ixa_arrived(receive);
    ixa_exit();
    return result;
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source,
                         int recvtag, MPI_Comm comm, MPI_Status *status)
{
    ixa_enter("MPI_Sendrecv_replace", IXA_SITE);
    ixa_send(IXA_SITE, buf, count, type, dest, sendtag, comm);
    ixa_receive_t receive = ixa_post(IXA_SITE, buf, count, type, source, recvtag, comm);
    int result =
        PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
    ixa_arrived(receive);
    ixa_exit();
    return result;
}

/* ---- Completion -------------------------------------------------------------------------------
 */

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    ixa_enter("MPI_Wait", IXA_SITE);
    MPI_Request handle = *request;
    int result = PMPI_Wait(request, status);
    ixa_arrived(ixa_completed(handle));
    ixa_exit();
    return result;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    ixa_poll();
    MPI_Request handle = *request;
    int result = PMPI_Test(request, flag, status);
    ixa_polled(*flag, "MPI_Test", IXA_SITE);
    if (*flag)
        ixa_arrived(ixa_completed(handle));
    ixa_exit();
    return result;
}

/* The handles of before the call, which overwrites them. NULL without memory. */
static MPI_Request *copy(int count, const MPI_Request *requests)
{
    size_t size = (size_t)(count > 0 ? count : 0) * sizeof *requests;
    MPI_Request *handles = malloc(size + 1);
    if (handles && size)
        memcpy(handles, requests, size);
    return handles;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    ixa_enter("MPI_Waitall", IXA_SITE);
    MPI_Request *handles = copy(count, requests);
    int result = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; handles && i < count; i++)
        ixa_arrived(ixa_completed(handles[i]));
    free(handles);
    ixa_exit();
    return result;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    ixa_poll();
    MPI_Request *handles = copy(count, requests);
    int result = PMPI_Testall(count, requests, flag, statuses);
    ixa_polled(*flag, "MPI_Testall", IXA_SITE);
    for (int i = 0; *flag && handles && i < count; i++)
        ixa_arrived(ixa_completed(handles[i]));
    free(handles);
    ixa_exit();
    return result;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    ixa_enter("MPI_Waitany", IXA_SITE);
    MPI_Request *handles = copy(count, requests);
    int result = PMPI_Waitany(count, requests, index, status);
    if (handles && *index != MPI_UNDEFINED)
        ixa_arrived(ixa_completed(handles[*index]));
    free(handles);
    ixa_exit();
    return result;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    ixa_poll();
    MPI_Request *handles = copy(count, requests);
    int result = PMPI_Testany(count, requests, index, flag, status);
    ixa_polled(*flag, "MPI_Testany", IXA_SITE);
    if (handles && *flag && *index != MPI_UNDEFINED)
        ixa_arrived(ixa_completed(handles[*index]));
    free(handles);
    ixa_exit();
    return result;
}

#define SOME(name)                                                                                 \
    int MPI_##name(int count, MPI_Request requests[], int *done, int indices[],                    \
                   MPI_Status statuses[])                                                          \
    {                                                                                              \
        ixa_poll();                                                                                \
        MPI_Request *handles = copy(count, requests);                                              \
        int result = PMPI_##name(count, requests, done, indices, statuses);                        \
        ixa_polled(*done == MPI_UNDEFINED || *done > 0, "MPI_" #name, IXA_SITE);                   \
        for (int i = 0; handles && *done != MPI_UNDEFINED && i < *done; i++)                       \
            ixa_arrived(ixa_completed(handles[indices[i]]));                                       \
        free(handles);                                                                             \
        ixa_exit();                                                                                \
        return result;                                                                             \
    }
SOME(Waitsome)
SOME(Testsome)
