/* Rank 1 looks for messages for some ms after rank 0 began to close its endpoints, before it closes
 * its own: then MPICH 4.0.2 over UCX's TCP does not return from MPI_Finalize. Prints "done" in rank
 * 0 after MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static void *worker;
static int rank;

int8_t ucp_worker_create(void *context, const void *parameters, void **made)
{
    int8_t (*real)(void *, const void *, void **);
    *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_create");
    int8_t status = real(context, parameters, made);
    worker = *made;
    return status;
}

void *ucp_disconnect_nb(void *endpoint)
{
    static int late;
    void *(*real)(void *);
    *(void **)&real = dlsym(RTLD_NEXT, "ucp_disconnect_nb");
    if (rank == 1 && !late++) {
        unsigned (*look)(void *);
        *(void **)&look = dlsym(RTLD_NEXT, "ucp_worker_progress");
        for (int i = 0; i < 40; i++) {
            look(worker);
            usleep(100);
        }
    }
    return real(endpoint);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
