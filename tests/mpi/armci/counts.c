/* Every ARMCI call that moves data, each with a size of its own; says what must be counted. */
#include <armci.h>

#include "expect.h"

/* calls and transfers are the same; 0 bytes: no transfer */
#define CALLED(name, calls, bytes) EXPECT("ARMCI_" #name, calls, (bytes) ? (calls) : 0, bytes)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ARMCI_Init();
    int other = (rank_ + 1) % size_;
    double *memory[16], *mine, *local = ARMCI_Malloc_local(4096), scale = 2.0;
    ARMCI_Malloc((void **)memory, 4096);
    mine = memory[rank_];
    for (int i = 0; i < 512; i++)
        local[i] = rank_ + 1, mine[i] = 0.0;
    ARMCI_Barrier();
    char *there = (char *)memory[other], *here = (char *)local;
    armci_hdl_t handle[9];
    for (int i = 0; i < 9; i++)
        ARMCI_INIT_HANDLE(&handle[i]);

    ARMCI_Put(here, there, 8, other), CALLED(Put, 1, 8);
    ARMCI_Get(there, here + 2048, 16, other), CALLED(Get, 1, 16);
    ARMCI_Acc(ARMCI_ACC_DBL, &scale, here, there, 24, other), CALLED(Acc, 1, 24);
    ARMCI_NbPut(here, there + 64, 32, other, &handle[0]), CALLED(NbPut, 1, 32);
    ARMCI_NbGet(there, here + 2048, 40, other, &handle[1]), CALLED(NbGet, 1, 40);
    ARMCI_NbAcc(ARMCI_ACC_DBL, &scale, here, there, 48, other, &handle[2]), CALLED(NbAcc, 1, 48);
    for (int i = 0; i < 3; i++)
        ARMCI_Wait(&handle[i]), CALLED(Wait, 1, 0);

    int strides[2] = {64, 256}, count[3] = {8, 2, 3};
    ARMCI_PutS(here, strides, there, strides, count, 2, other), CALLED(PutS, 1, 48);
    ARMCI_GetS(there, strides, here + 2048, strides, count, 1, other), CALLED(GetS, 1, 16);
    ARMCI_AccS(ARMCI_ACC_DBL, &scale, here, strides, there, strides, count, 2, other);
    CALLED(AccS, 1, 48);
    ARMCI_NbPutS(here, strides, there, strides, count, 2, other, &handle[3]);
    CALLED(NbPutS, 1, 48);
    ARMCI_NbGetS(there, strides, here + 2048, strides, count, 1, other, &handle[4]);
    CALLED(NbGetS, 1, 16);
    ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, here, strides, there, strides, count, 0, other, &handle[5]);
    CALLED(NbAccS, 1, 8);
    ARMCI_WaitProc(other), CALLED(WaitProc, 1, 0);

    void *from[3] = {here, here + 64, here + 128}, *to[3] = {there, there + 64, there + 128};
    void *back[3] = {here + 2048, here + 2112, here + 2176};
    armci_giov_t out[2] = {{from, to, 8, 3}, {from, to, 16, 1}}, in = {to, back, 8, 3};
    ARMCI_PutV(out, 1, other), CALLED(PutV, 1, 24);
    ARMCI_GetV(&in, 1, other), CALLED(GetV, 1, 24);
    ARMCI_AccV(ARMCI_ACC_DBL, &scale, out, 1, other), CALLED(AccV, 1, 24);
    ARMCI_NbPutV(out, 1, other, &handle[6]), CALLED(NbPutV, 1, 24);
    ARMCI_NbGetV(&in, 1, other, &handle[7]), CALLED(NbGetV, 1, 24);
    ARMCI_NbAccV(ARMCI_ACC_DBL, &scale, out, 1, other, &handle[8]), CALLED(NbAccV, 1, 24);
    ARMCI_WaitAll(), CALLED(WaitAll, 1, 0);
    ARMCI_Fence(other), CALLED(Fence, 1, 0);
    ARMCI_PutV(out, 2, other), CALLED(PutV, 1, 40);

    ARMCI_PutValueInt(1, there, other), CALLED(PutValueInt, 1, 4);
    ARMCI_PutValueLong(1, there, other), CALLED(PutValueLong, 1, 8);
    ARMCI_PutValueFloat(1, there, other), CALLED(PutValueFloat, 1, 4);
    ARMCI_PutValueDouble(3.5, there, other), CALLED(PutValueDouble, 1, 8);
    ARMCI_AllFence(), CALLED(AllFence, 1, 0);
    CHECK(ARMCI_GetValueDouble(there, other) == 3.5);
    CALLED(GetValueDouble, 1, 8);
    ARMCI_GetValueInt(there, other), CALLED(GetValueInt, 1, 4);
    ARMCI_GetValueLong(there, other), CALLED(GetValueLong, 1, 8);
    ARMCI_GetValueFloat(there, other), CALLED(GetValueFloat, 1, 4);
    int old;
    long old_long;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, there + 512, 1, other), CALLED(Rmw, 1, 4);
    ARMCI_Rmw(ARMCI_SWAP_LONG, &old_long, there + 520, 1, other), CALLED(Rmw, 1, 8);

    /* To itself: it is a transfer, on the path "self". (Not where the other may still look.) */
    ARMCI_Put(here, mine + 128, 8, rank_), CALLED(Put, 1, 8);
    ARMCI_Barrier(), CALLED(Barrier, 1, 0);
    ARMCI_Free(mine);
    ARMCI_Free_local(local);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
