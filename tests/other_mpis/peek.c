/* Requests that MPI_Request_get_status_{all,any,some} (MPI 4.1) sees complete, long before their
 * MPI_Waitall. Each rank posts a receive per form, gets the messages, looks, then sleeps. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { COUNT = 3, BYTES = 1000 };
static char in[COUNT][BYTES], out[BYTES];

static void look(const char *form, MPI_Request *requests)
{
    int seen = 0, flag = 0, index = 0, indices[COUNT] = {0}, number = 0;
    while (!strcmp(form, "all") && !flag)
        MPI_Request_get_status_all(COUNT, requests, &flag, MPI_STATUSES_IGNORE);
    /* Of several that are complete it may name any, again and again: look at each alone. */
    for (; !strcmp(form, "any") && seen < COUNT; seen++)
        for (flag = 0; !flag;)
            MPI_Request_get_status_any(1, requests + seen, &index, &flag, MPI_STATUS_IGNORE);
    /* MPICH 5.0 makes no more progress once one is complete: ask for the rest, in order. */
    for (; !strcmp(form, "some") && seen < COUNT; seen += number)
        MPI_Request_get_status_some(COUNT - seen, requests + seen, &number, indices,
                                    MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request requests[COUNT];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COUNT; i++)
        MPI_Irecv(in[i], BYTES, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < COUNT; i++)
        MPI_Send(out, BYTES, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD);
    look(argc > 1 ? argv[1] : "none", requests);
    usleep(400000);
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    return MPI_Finalize();
}
#else
int main(void)
{
    puts("no MPI_Request_get_status_all");
    return 0;
}
#endif
