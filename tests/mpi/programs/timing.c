/* One message of 1 MiB (or one collective) with known work around it, named by the argument; rank 0
 * and rank 1 take turns so that only the call under test moves data. Work is by the clock. */
#include <time.h>

#include "expect.h"

#define W MPI_COMM_WORLD
#define N (1 << 20)

static char in[N], out[N];

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
    const char *scenario = argv[1];
    int other = 1 - rank_;
    MPI_Request r;
    MPI_Win win;
    if (!strcmp(scenario, "blocking")) {
        if (rank_ == 0)
            MPI_Send(out, N, MPI_BYTE, 1, 0, W);
        else
            MPI_Recv(in, N, MPI_BYTE, 0, 0, W, MPI_STATUS_IGNORE);
    } else if (!strcmp(scenario, "modes")) {
        if (rank_ == 0) {
            static char space[N + MPI_BSEND_OVERHEAD];
            void *back;
            int size;
            MPI_Buffer_attach(space, sizeof space);
            MPI_Ssend(out, N, MPI_BYTE, 1, 0, W);
            MPI_Bsend(out, N, MPI_BYTE, 1, 1, W);
            MPI_Recv(in, 0, MPI_BYTE, 1, 3, W, MPI_STATUS_IGNORE);
            MPI_Rsend(out, N, MPI_BYTE, 1, 2, W);
            MPI_Buffer_detach(&back, &size);
        } else {
            MPI_Recv(in, N, MPI_BYTE, 0, 0, W, MPI_STATUS_IGNORE);
            MPI_Recv(in, N, MPI_BYTE, 0, 1, W, MPI_STATUS_IGNORE);
            MPI_Irecv(in, N, MPI_BYTE, 0, 2, W, &r);
            MPI_Send(out, 0, MPI_BYTE, 0, 3, W);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
    } else if (!strcmp(scenario, "nonblocking")) {
        if (rank_ == 0)
            MPI_Isend(out, N, MPI_BYTE, 1, 0, W, &r);
        else
            MPI_Irecv(in, N, MPI_BYTE, 0, 0, W, &r);
        work(60);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (!strcmp(scenario, "collective")) {
        static double x[N / 8], y[N / 8];
        MPI_Iallreduce(x, y, N / 8, MPI_DOUBLE, MPI_SUM, W, &r);
        work(60);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (!strcmp(scenario, "put") || !strcmp(scenario, "local")) {
        MPI_Win_create(in, N, 1, MPI_INFO_NULL, W, &win);
        MPI_Win_lock_all(0, win);
        if (rank_ == 0) {
            MPI_Put(out, N, MPI_BYTE, other, 0, N, MPI_BYTE, win);
            work(60);
            if (!strcmp(scenario, "put"))
                MPI_Win_flush(other, win);
            else
                MPI_Win_flush_local(other, win);
        }
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    MPI_Barrier(W);
    MPI_Finalize();
    return 0;
}
