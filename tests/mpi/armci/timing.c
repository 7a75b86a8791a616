/* One transfer of 1 MiB from or to rank 1, with 60 ms of work around it, named by the argument. */
#include <armci.h>
#include <time.h>

#include "expect.h"

#define N (1 << 20)

static void work(double ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1e3 + (now.tv_nsec - begin.tv_nsec) * 1e-6 < ms);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ARMCI_Init();
    const char *operation = argv[1];
    void *memory[2], *local = ARMCI_Malloc_local(N);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_Malloc(memory, N);
    ARMCI_Barrier();
    if (rank_ == 0 && !strcmp(operation, "put")) {
        ARMCI_Put(local, memory[1], N, 1);
    } else if (rank_ == 0 && !strcmp(operation, "get")) {
        ARMCI_Get(memory[1], local, N, 1);
    } else if (rank_ == 0 && !strcmp(operation, "wait")) {
        ARMCI_NbPut(local, memory[1], N, 1, &handle);
        work(60);
        ARMCI_Wait(&handle);
    } else if (rank_ == 0 && !strcmp(operation, "fence")) {
        ARMCI_NbPut(local, memory[1], N, 1, &handle);
        work(60);
        ARMCI_Fence(1);
        work(60);
        ARMCI_Wait(&handle);
    } else if (rank_ == 0 && !strcmp(operation, "nbget")) {
        ARMCI_NbGet(memory[1], local, N, 1, &handle);
        work(60);
        ARMCI_Fence(1); /* says nothing of a get */
        work(60);
        ARMCI_Wait(&handle);
    } else if (rank_ == 0 && !strcmp(operation, "implicit")) {
        ARMCI_NbPut(local, memory[1], N, 1, NULL);
        work(60);
        ARMCI_WaitAll();
    }
    ARMCI_Barrier();
    ARMCI_Free(memory[rank_]);
    ARMCI_Free_local(local);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
