/* One-sided transfers between two ranks under every kind of synchronization; counts for itself. */
#include "expect.h"

#define W MPI_COMM_WORLD

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int other = 1 - rank_;
    double *base, out[64], in[64];
    long long one = 1, old = 0;
    MPI_Win win;
    MPI_Request r;
    for (int i = 0; i < 64; i++)
        out[i] = rank_ * 100 + i;
    MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, W, &base, &win);
    memset(base, 0, 64 * sizeof(double));

    MPI_Win_fence(0, win);
    MPI_Put(out, 10, MPI_DOUBLE, other, 0, 10, MPI_DOUBLE, win);
    MPI_Put(out, 10, MPI_DOUBLE, MPI_PROC_NULL, 0, 10, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(base[9] == other * 100 + 9);
    MPI_Get(in, 12, MPI_DOUBLE, other, 0, 12, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 14, MPI_DOUBLE, other, 0, 14, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EXPECT("MPI_Put", 2, 1, 80);
    EXPECT("MPI_Get", 1, 1, 96);
    EXPECT("MPI_Accumulate", 1, 1, 112);
    EXPECT("MPI_Win_fence", 4, 0, 0);

    MPI_Group world, peer;
    MPI_Comm_group(W, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_post(peer, 0, win);
    MPI_Win_start(peer, 0, win);
    MPI_Put(out, 20, MPI_DOUBLE, other, 0, 20, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    EXPECT("MPI_Put", 1, 1, 160);
    EXPECT("MPI_Win_complete", 1, 0, 0);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);

    MPI_Win_lock_all(0, win);
    MPI_Put(out, 30, MPI_DOUBLE, other, 30, 30, MPI_DOUBLE, win);
    MPI_Win_flush_local(other, win);
    MPI_Win_flush(other, win);
    MPI_Rput(out, 31, MPI_DOUBLE, other, 30, 31, MPI_DOUBLE, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Rget(in, 32, MPI_DOUBLE, other, 0, 32, MPI_DOUBLE, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Get_accumulate(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, other, 0, 4, MPI_DOUBLE, MPI_SUM,
                       win);
    MPI_Win_flush_all(win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, other, 0, MPI_SUM, win);
    MPI_Win_flush_local_all(win);
    MPI_Compare_and_swap(&one, &one, &old, MPI_LONG_LONG, other, 0, win);
    MPI_Win_unlock_all(win);
    EXPECT("MPI_Put", 1, 1, 240);
    EXPECT("MPI_Rput", 1, 1, 248);
    EXPECT("MPI_Rget", 1, 1, 256);
    EXPECT("MPI_Get_accumulate", 1, 1, 32);
    EXPECT("MPI_Fetch_and_op", 1, 1, 8);
    EXPECT("MPI_Compare_and_swap", 1, 1, 8);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
    MPI_Put(out, 5, MPI_DOUBLE, other, 0, 5, MPI_DOUBLE, win);
    MPI_Win_unlock(other, win);
    EXPECT("MPI_Put", 1, 1, 40);
    EXPECT("MPI_Win_unlock", 1, 0, 0);
    MPI_Barrier(W);
    MPI_Win_free(&win);
    EXPECT("MPI_Win_free", 1, 0, 0);
    MPI_Finalize();
    return 0;
}
