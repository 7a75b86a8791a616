/* Requests: which receive a handle stands for. */
#include "calls.h"

enum { OPEN = 4096 };

static struct {
    MPI_Request request;
    ixa_receive_t receive;
} receives[OPEN];
static int receive_count;
static ixa_persistent_t persistent[OPEN];
static int persistent_count;

void ixa_job_start(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ixa_start(rank);
}

void ixa_job_end(void)
{
    static int ended;
    if (ended++)
        return;
    ixa_enter("MPI_Finalize", NULL);
    ixa_messages_finish();
    ixa_times_finish();
    ixa_write_results();
}

void ixa_remember(MPI_Request request, ixa_receive_t receive)
{
    if (!receive.message)
        return;
    if (receive_count == OPEN) {
        ixa_dropped++;
        return;
    }
    receives[receive_count].request = request;
    receives[receive_count++].receive = receive;
}

ixa_receive_t ixa_completed(MPI_Request request)
{
    for (int i = 0; i < receive_count; i++) {
        if (receives[i].request != request)
            continue;
        ixa_receive_t receive = receives[i].receive;
        receive_count--;
        for (int j = i; j < receive_count; j++)
            receives[j] = receives[j + 1];
        return receive;
    }
    return (ixa_receive_t){NULL, 0};
}

void ixa_forget(MPI_Request request)
{
    ixa_completed(request);
    for (int i = 0; i < persistent_count; i++)
        if (persistent[i].request == request)
            persistent[i] = persistent[--persistent_count];
}

void ixa_remember_persistent(ixa_persistent_t what)
{
    if (ixa_mode == IXA_OFF)
        return;
    if (persistent_count == OPEN)
        ixa_dropped++;
    else
        persistent[persistent_count++] = what;
}

void ixa_started(const void *site, MPI_Request request)
{
    for (int i = 0; i < persistent_count; i++) {
        const ixa_persistent_t *p = &persistent[i];
        if (p->request != request)
            continue;
        if (p->is_send)
            ixa_send(site, p->buffer, p->count, p->type, p->peer, p->tag, p->comm);
        else
            ixa_remember(request,
                         ixa_post(site, p->buffer, p->count, p->type, p->peer, p->tag, p->comm));
        return;
    }
}
