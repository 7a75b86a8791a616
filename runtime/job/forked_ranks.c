#define _GNU_SOURCE
#include "job/forked_ranks.h"

#ifndef IMBREX_DIRECT
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mpi/library.h"

enum { SLOT_BYTES = 256, SPINS = 100, PAUSE_NS = 50000 };

/* One in memory that the processes share. */
typedef struct forked_rank {
    pid_t process;
    int queue;              /* a file: what was sent to this rank, one behind the other */
    _Atomic uint64_t bytes; /* of it */
    _Atomic int lock;
    _Alignas(64) char slot[SLOT_BYTES]; /* what it brings to a reduction or broadcast */
} forked_rank;

typedef struct forked_job {
    _Atomic uint64_t entered;    /* how often processes came to a collective */
    _Atomic uint64_t in_barrier; /* and to MPI_Ibarrier */
    forked_rank ranks[];
} forked_job;

/* What stands before each message in a queue. */
typedef struct message_head {
    int32_t source, tag;
    uint64_t bytes;
} message_head;

static forked_job *job;
static int own_rank, rank_count;
static uint64_t collectives, barriers; /* that this process entered, times the number of ranks */
static uint64_t heard;                 /* bytes of the own queue */
static int received_bytes, probed_tag;

static void wait_until(const _Atomic uint64_t *counter, uint64_t least)
{
    for (int spins = 0; atomic_load(counter) < least; spins++) {
        if (spins < SPINS)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
}

static void meet(void)
{
    collectives += (uint64_t)rank_count;
    atomic_fetch_add(&job->entered, 1);
    wait_until(&job->entered, collectives);
}

static int comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = own_rank;
    return MPI_SUCCESS;
}

static int comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = rank_count;
    return MPI_SUCCESS;
}

#define COMBINE(type)                                                                              \
    do {                                                                                           \
        type *to = sum;                                                                            \
        const type *from = one;                                                                    \
        for (int i = 0; i < count; i++)                                                            \
            to[i] = op == MPI_SUM   ? to[i] + from[i]                                              \
                    : op == MPI_MIN ? (from[i] < to[i] ? from[i] : to[i])                          \
                                    : (from[i] > to[i] ? from[i] : to[i]);                         \
    } while (0)

static size_t bytes_of(MPI_Datatype type)
{
    return type == MPI_INT ? sizeof(int) : type == MPI_BYTE ? 1 : 8;
}

static void combine(void *sum, const void *one, int count, MPI_Datatype type, MPI_Op op)
{
    if (type == MPI_INT)
        COMBINE(int);
    else if (type == MPI_DOUBLE)
        COMBINE(double);
    else
        COMBINE(int64_t);
}

static int allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm)
{
    (void)comm;
    size_t bytes = (size_t)count * bytes_of(type);
    if (bytes > SLOT_BYTES)
        return MPI_ERR_COUNT;
    memcpy(job->ranks[own_rank].slot, mine == MPI_IN_PLACE ? all : mine, bytes);
    meet();
    memcpy(all, job->ranks[0].slot, bytes);
    for (int i = 1; i < rank_count; i++)
        combine(all, job->ranks[i].slot, count, type, op);
    meet(); /* nobody writes the next one's numbers into a slot that is still read */
    return MPI_SUCCESS;
}

static int reduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm)
{
    char unused[SLOT_BYTES];
    return allreduce(mine, own_rank == root ? all : unused, count, type, op, comm);
}

static int bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)comm;
    size_t bytes = (size_t)count * bytes_of(type);
    if (bytes > SLOT_BYTES)
        return MPI_ERR_COUNT;
    if (own_rank == root)
        memcpy(job->ranks[root].slot, data, bytes);
    meet();
    memcpy(data, job->ranks[root].slot, bytes);
    meet();
    return MPI_SUCCESS;
}

static int write_all(int file, const void *data, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = pwrite(file, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (now <= 0)
            return -1;
        done += (size_t)now;
    }
    return 0;
}

static int issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    (void)type;
    (void)comm;
    forked_rank *r = &job->ranks[to];
    message_head head = {own_rank, tag, (uint64_t)count};
    while (atomic_exchange(&r->lock, 1))
        sched_yield();
    uint64_t at = atomic_load(&r->bytes);
    int bad = write_all(r->queue, &head, sizeof head, at) ||
              write_all(r->queue, data, head.bytes, at + sizeof head);
    if (!bad)
        atomic_store(&r->bytes, at + sizeof head + head.bytes);
    atomic_store(&r->lock, 0);
    *request = MPI_REQUEST_NULL;
    return bad ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* The first message in the queue that was not heard yet: 1, 0 where there is none, or -1. */
static int next_message(message_head *head)
{
    forked_rank *r = &job->ranks[own_rank];
    if (heard == atomic_load(&r->bytes))
        return 0;
    return pread(r->queue, head, sizeof *head, (off_t)heard) == (ssize_t)sizeof *head ? 1 : -1;
}

/* All of one exchange stands in front of the next one's, because nobody leaves the barrier between
 * them before all have entered it. */
static int iprobe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
    (void)source;
    (void)comm;
    message_head head;
    int found = next_message(&head);
    probed_tag = tag;
    *there = found > 0 && head.tag == tag;
    if (*there)
        status->MPI_SOURCE = head.source;
    return found < 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int recv_next(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Status *status)
{
    (void)type;
    (void)source;
    (void)tag;
    (void)comm;
    message_head head;
    if (next_message(&head) <= 0 || head.bytes > (uint64_t)count ||
        pread(job->ranks[own_rank].queue, data, head.bytes, (off_t)(heard + sizeof head)) !=
            (ssize_t)head.bytes)
        return MPI_ERR_OTHER;
    heard += sizeof head + head.bytes;
    status->MPI_SOURCE = head.source;
    received_bytes = (int)head.bytes;
    return MPI_SUCCESS;
}

static int get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)status;
    (void)type;
    *count = received_bytes;
    return MPI_SUCCESS;
}

static int ibarrier(MPI_Comm comm, MPI_Request *request)
{
    (void)comm;
    (void)request; /* test() is asked about no other */
    barriers += (uint64_t)rank_count;
    atomic_fetch_add(&job->in_barrier, 1);
    return MPI_SUCCESS;
}

/* Over when all have entered, and so have sent all of this exchange, and this rank has heard its
 * part. A message of the next exchange may be there: then this one's are heard. */
static int test(MPI_Request *request, int *over, MPI_Status *status)
{
    (void)request;
    (void)status;
    message_head head;
    int all = atomic_load(&job->in_barrier) >= barriers, found = all ? next_message(&head) : 1;
    *over = all && (found == 0 || head.tag != probed_tag);
    return found < 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Constants that are addresses in the library are addresses here, each another one. */
static void answer_for_library(void)
{
    static char constants[IX_DATA_COUNT + 1];
    for (size_t i = 0; ix_data_names[i]; i++)
        ix_data[i] = &constants[i];
    ix_real.MPI_Comm_rank = comm_rank;
    ix_real.MPI_Comm_size = comm_size;
    ix_real.MPI_Allreduce = allreduce;
    ix_real.MPI_Reduce = reduce;
    ix_real.MPI_Bcast = bcast;
    ix_real.MPI_Issend = issend;
    ix_real.MPI_Iprobe = iprobe;
    ix_real.MPI_Recv = recv_next;
    ix_real.MPI_Get_count = get_count;
    ix_real.MPI_Ibarrier = ibarrier;
    ix_real.MPI_Test = test;
    __atomic_store_n(&ix_resolved, 1, __ATOMIC_RELEASE);
}

/* A file that nobody else sees. */
static int make_queue(const char *directory)
{
    char *path = NULL;
    if (asprintf(&path, "%s/queue-XXXXXX", directory) < 0)
        return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

static void end_all(void)
{
    for (int i = 0; i < rank_count; i++)
        if (job->ranks[i].process > 0)
            kill(job->ranks[i].process, SIGKILL);
}

/* Those that one process waits for in vain are ended with it. */
static int wait_for_all(int started)
{
    int bad = started < rank_count;
    if (bad)
        end_all();
    for (int left = started; left > 0; left--) {
        int status = 0;
        pid_t process = wait(&status);
        for (int i = 0; i < rank_count; i++)
            if (job->ranks[i].process == process)
                job->ranks[i].process = 0;
        if (process < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
            if (!bad)
                end_all();
            bad = 1;
        }
    }
    return bad ? -1 : 0;
}

int ix_fork_ranks(int ranks, const char *directory, ix_forked_work *work, void *context)
{
    size_t bytes = sizeof *job + (size_t)ranks * sizeof *job->ranks;
    job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED)
        return -1;
    rank_count = ranks;
    answer_for_library();
    int started = 0, fine = 1;
    for (int i = 0; i < ranks && fine; i++)
        fine = (job->ranks[i].queue = make_queue(directory)) >= 0;
    for (; started < ranks && fine; started++) {
        pid_t process = fork();
        if (process == 0) {
            own_rank = started;
            _exit(work(context, started));
        }
        if (process < 0)
            break;
        job->ranks[started].process = process;
    }
    int bad = wait_for_all(started);
    for (int i = 0; i < ranks; i++)
        if (job->ranks[i].queue > 0)
            close(job->ranks[i].queue);
    munmap(job, bytes);
    job = NULL;
    return bad;
}
#endif
