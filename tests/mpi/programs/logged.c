/* Calls that the call log must hold exactly. Rank 0 and 1 of two; each step is named by the test.
 * argv[1]: "steps", or "kill": SIGKILL after the steps, or "threads": two threads of each rank
 * exchange on tags of their own. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int rank, other;
static char out[1 << 16], in[4][1 << 16];

static void point_to_point(void)
{
    MPI_Request r[4];
    MPI_Status s[4];
    int index, flag = 0, count, indices[4];
    if (rank == 0) {
        MPI_Send(out, 100, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        MPI_Ssend(out, 25, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Send(out, 0, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    } else {
        MPI_Recv(in[0], 200, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in[0], 200, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s[0]);
        MPI_Recv(in[0], 200, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    /* large enough that a request of its own stands for the send */
    MPI_Irecv(in[0], 1 << 16, MPI_CHAR, other, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 1 << 16, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(out, 1 << 16, MPI_CHAR, other, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out, 1000, MPI_CHAR, other, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Irecv(in[0], 10, MPI_CHAR, other, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 10, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Send(out, 10, MPI_CHAR, other, 3, MPI_COMM_WORLD);
    MPI_Wait(&r[0], &s[0]);
    MPI_Wait(&r[1], &s[0]);
    MPI_Sendrecv(out, 11, MPI_CHAR, other, 4, in[0], 20, MPI_CHAR, other, 4, MPI_COMM_WORLD, s);
    MPI_Irecv(in[0], 10, MPI_CHAR, other, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 10, MPI_CHAR, other, 6, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend(out, 1, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Send(out, 5, MPI_CHAR, other, 5, MPI_COMM_WORLD);
    MPI_Send(out, 6, MPI_CHAR, other, 6, MPI_COMM_WORLD);
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Irecv(in[0], 10, MPI_CHAR, other, 9, MPI_COMM_WORLD, &r[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE); /* finds nothing */
    if (flag)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 9, MPI_CHAR, other, 9, MPI_COMM_WORLD);
    while (!flag)
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Irecv(in[0], 10, MPI_CHAR, other, 99, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s[0]);
}

static void persistent(void)
{
    MPI_Request r[2];
    MPI_Send_init(out, 64, MPI_INT, other, 11, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in[0], 64, MPI_INT, other, 11, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void probes(void)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int found = 0;
    for (int i = 0; i < 3; i++)
        MPI_Bsend(out, 12 + i, MPI_CHAR, other, 12, MPI_COMM_WORLD);
    MPI_Probe(other, 12, MPI_COMM_WORLD, &status);
    MPI_Mprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in[0], 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(other, 12, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in[0], 100, MPI_CHAR, &message, &request);
    MPI_Recv(in[1], 100, MPI_CHAR, other, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iprobe(other, 77, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); /* finds nothing */
}

static void collectives(void)
{
    MPI_Comm twin, half, cross;
    MPI_Request request;
    int value = rank, sum;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, twin);
    MPI_Bcast(out, 300, MPI_CHAR, 1, twin);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ialltoall(out, 50, MPI_CHAR, in[0], 50, MPI_CHAR, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_idup(half, &cross, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(cross);
    MPI_Comm_free(&cross);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 13, &cross);
    if (rank == 0)
        MPI_Send(out, 14, MPI_CHAR, 0, 14, cross);
    else
        MPI_Recv(in[0], 14, MPI_CHAR, 0, 14, cross, MPI_STATUS_IGNORE);
    MPI_Comm_free(&cross);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin); /* another number than the one before */
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
}

static void one_sided(void)
{
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create(in[2], sizeof in[2], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 40, MPI_CHAR, other, 0, 40, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Get(in[3], 30, MPI_CHAR, other, 0, 30, MPI_CHAR, win);
    MPI_Win_flush(other, win);
    MPI_Rput(out, 20, MPI_CHAR, other, 0, 20, MPI_CHAR, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(other, win);
    MPI_Win_free(&win);
}

static void *exchange(void *tag)
{
    static char left[2][1000], right[2][1000];
    int which = *(int *)tag - 100;
    MPI_Request r[2];
    for (int i = 0; i < 500; i++) {
        MPI_Irecv(right[which], 1000, MPI_CHAR, other, 100 + which, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(left[which], 1 + i, MPI_CHAR, other, 100 + which, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    int tags[] = {100, 101};
    pthread_t second;
    pthread_create(&second, NULL, exchange, &tags[1]);
    exchange(&tags[0]);
    pthread_join(second, NULL);
}

int main(int argc, char **argv)
{
    static char room[4096];
    int level, with_threads = argc > 1 && !strcmp(argv[1], "threads");
    MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (with_threads) {
        if (level == MPI_THREAD_MULTIPLE)
            threads();
        MPI_Finalize();
        return level == MPI_THREAD_MULTIPLE ? 0 : 77;
    }
    MPI_Buffer_attach(room, sizeof room);
    point_to_point();
    persistent();
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    probes();
    collectives();
    one_sided();
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
