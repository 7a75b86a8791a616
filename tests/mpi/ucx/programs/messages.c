/* Messages whose numbers and bytes are known, by mode: argv[1]. Two ranks; each sends to the other.
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, peer;
static char *out, *in;
#define ROOM (4 << 20)

static void work(double seconds)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do
        clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9 < seconds);
}

static void exchange(int bytes, int tag, double seconds)
{
    MPI_Request r[2];
    MPI_Irecv(in, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]);
    work(seconds);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void pt2pt(void)
{
    static const int sizes[] = {1, 100, 3000, 20000, 300000, 2000000};
    MPI_Status status;
    MPI_Request request[2];
    for (int i = 0; i < 6; i++) {
        exchange(sizes[i], i, 1e-4);
        if (rank % 2 == 0) {
            MPI_Send(out, sizes[i], MPI_BYTE, peer, 50, MPI_COMM_WORLD);
            MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Ssend(out, sizes[i], MPI_BYTE, peer, 50, MPI_COMM_WORLD);
        }
        MPI_Sendrecv(out, sizes[i], MPI_BYTE, peer, 60, in, sizes[i], MPI_BYTE, peer, 60,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    /* every other double: the datatype has to be packed */
    MPI_Datatype column;
    MPI_Type_vector(5000, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(out, 2, column, peer, 7, in, 2, column, peer, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    /* persistent, matched, nobody, nothing */
    MPI_Send_init(out, 700, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(in, 900, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Message message;
    MPI_Isend(out, 123456, MPI_BYTE, peer, 9, MPI_COMM_WORLD, &request[0]);
    MPI_Mprobe(peer, 9, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, 123456, MPI_BYTE, &message, &status);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 5, MPI_BYTE, MPI_PROC_NULL, 1, in, 5, MPI_BYTE, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchange(0, 10, 0);
    /* to itself, on two communicators */
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(out, 4000, MPI_BYTE, rank, 3 + i, in, 4000, MPI_BYTE, rank, 3 + i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Bcast(out, 1000000, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Sendrecv(out, 10, MPI_BYTE, peer, 1, in, 10, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allgather(out, 50000, MPI_BYTE, in, 50000, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Alltoall(out, 40000, MPI_BYTE, in, 40000, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Gather(out, 200000, MPI_BYTE, in, 200000, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    MPI_Request r;
    MPI_Iallgather(out, 30000, MPI_BYTE, in, 30000, MPI_BYTE, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Each rank sends to itself in one communicator; the next one has its number, but not its order. */
static void renumbered(void)
{
    for (int reversed = 0; reversed < 2; reversed++) {
        MPI_Comm comm;
        int there;
        MPI_Comm_split(MPI_COMM_WORLD, 0, reversed ? -rank : rank, &comm);
        MPI_Comm_rank(comm, &there);
        MPI_Sendrecv(out, 4000, MPI_BYTE, there, 3, in, 4000, MPI_BYTE, there, 3, comm,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < 10; i++) {
            MPI_Request r;
            MPI_Irecv(in, 20000, MPI_BYTE, !there, 7, comm, &r);
            MPI_Ssend(out, 20000, MPI_BYTE, !there, 7, comm);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&comm);
    }
}

static void cancels(void)
{
    for (int i = 0; i < 5; i++) {
        MPI_Request r;
        MPI_Status status;
        int cancelled = 0;
        MPI_Irecv(in, 1000, MPI_BYTE, peer, 99, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (!cancelled)
            exit(3);
    }
    exchange(500, 1, 0);
}

/* Rank 0's send is freed; rank 1 receives only on the way to MPI_Finalize. */
static void finalize(void)
{
    MPI_Request r;
    MPI_Isend(out, 2000000, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Irecv(in, 2000000, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
}

static void *talk(void *number)
{
    int n = (int)(size_t)number;
    char *mine = malloc(20000);
    for (int i = 0; i < 50; i++) {
        MPI_Request r[2];
        MPI_Irecv(mine, 10000, MPI_BYTE, peer, 100 + n, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(mine + 10000, 10000, MPI_BYTE, peer, 100 + n, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    free(mine);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[3];
    for (size_t i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, talk, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

/* One thread posts, another completes: 50 messages each way. */
static MPI_Request handed[2];
static sem_t posted, completed;

static void *complete(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        sem_wait(&posted);
        MPI_Waitall(2, handed, MPI_STATUSES_IGNORE);
        sem_post(&completed);
    }
    return NULL;
}

static void handover(void)
{
    pthread_t other;
    sem_init(&posted, 0, 0);
    sem_init(&completed, 0, 0);
    pthread_create(&other, NULL, complete, NULL);
    for (int i = 0; i < 50; i++) {
        MPI_Irecv(in, 200000, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &handed[0]);
        MPI_Isend(out, 200000, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &handed[1]);
        sem_post(&posted);
        sem_wait(&completed);
    }
    pthread_join(other, NULL);
}

/* Rank 1 is gone, with whatever its library does at exit, while a message is under way. */
static void leaves(void)
{
    MPI_Request r;
    exchange(5000, 1, 0);
    MPI_Isend(out, ROOM, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r);
    if (rank == 1)
        exit(0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void killed(void)
{
    MPI_Request r;
    exchange(5000, 1, 0);
    MPI_Isend(out, ROOM, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r);
    if (rank == 1)
        raise(SIGKILL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void windows(void)
{
    MPI_Win win;
    MPI_Win_create(in, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 100000, MPI_BYTE, peer, 0, 100000, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Contiguous puts and gets in all kinds of epochs: 8 puts of 150000 bytes in all and 4 gets of
 * 650000 a rank; and what a library may move by messages of its own: 4 x 80000 bytes. */
static void onesided(void)
{
    MPI_Win win;
    MPI_Win_create(in, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        MPI_Put(out, 10000, MPI_BYTE, peer, 10000 * i, 10000, MPI_BYTE, win);
    work(1e-3);
    MPI_Win_fence(0, win);
    MPI_Get(out, 300000, MPI_BYTE, peer, 0, 300000, MPI_BYTE, win);
    work(2e-3);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2; i++) {
        MPI_Put(out, 50000, MPI_BYTE, peer, 0, 50000, MPI_BYTE, win);
        MPI_Win_flush(peer, win);
    }
    for (int i = 0; i < 2; i++)
        MPI_Get(out, 150000, MPI_BYTE, peer, 200000, 150000, MPI_BYTE, win);
    MPI_Win_flush_all(win);
    MPI_Put(out, 4000, MPI_BYTE, peer, 0, 4000, MPI_BYTE, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
    MPI_Put(out, 6000, MPI_BYTE, peer, 0, 6000, MPI_BYTE, win);
    MPI_Get(out, 50000, MPI_BYTE, peer, 100000, 50000, MPI_BYTE, win);
    MPI_Win_unlock(peer, win);
    MPI_Datatype column;
    MPI_Type_vector(10000, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_fence(0, win);
    MPI_Put(out, 1, column, peer, 0, 1, column, win);
    MPI_Win_fence(0, win);
    MPI_Get(out, 1, column, peer, 0, 1, column, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 80000, MPI_BYTE, peer, 0, 80000, MPI_BYTE, MPI_BOR, win);
    MPI_Win_fence(0, win);
    MPI_Request r;
    MPI_Win_lock_all(0, win);
    MPI_Rget(out, 80000, MPI_BYTE, peer, 0, 80000, MPI_BYTE, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
}

/* Twice each of Put, Get, Rput and Rget of 1 MB: many calls that make progress on both sides, then
 * work, and only then what closes it. And two accumulates with work behind them. */
static void seen(void)
{
    enum { BYTES = 1 << 20 };
    MPI_Win win;
    char byte[2];
    MPI_Win_create(in, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10; i++) {
        MPI_Request r = MPI_REQUEST_NULL;
        if (i < 2)
            MPI_Put(out, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, win);
        else if (i < 4)
            MPI_Get(out, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, win);
        else if (i < 6)
            MPI_Rput(out, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, win, &r);
        else if (i < 8)
            MPI_Rget(out, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, win, &r);
        else
            MPI_Accumulate(out, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, MPI_BOR, win);
        for (int k = 0; k < 200; k++)
            MPI_Sendrecv(byte, 1, MPI_BYTE, peer, 1, byte + 1, 1, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        work(2e-2);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Win_flush(peer, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "pt2pt";
    int several = !strcmp(mode, "threads") || !strcmp(mode, "handover");
    int level = several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = rank ^ 1;
    out = calloc(1, 2 * ROOM);
    in = out + ROOM;
    struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"pt2pt", pt2pt},       {"collectives", collectives},
                 {"cancels", cancels},   {"finalize", finalize},
                 {"threads", threads},   {"killed", killed},
                 {"windows", windows},   {"onesided", onesided},
                 {"handover", handover}, {"leaves", leaves},
                 {"seen", seen},         {"renumbered", renumbered}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i].name))
            modes[i].run();
    MPI_Finalize();
    free(out);
    return 0;
}
