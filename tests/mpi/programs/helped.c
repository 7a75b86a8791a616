/* What a progress thread does and what it must not change, two ranks: helped WHAT.
 * The exchanges post large messages and then make no call of MPI: rank 0 prints `moved` if all data
 * came nevertheless, which it looks for in its memory, and `not moved` if it did not within the
 * seconds that HELPED_WAIT_S gives. The program then completes its requests, checks each byte, and
 * prints `right`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helped.h"

static void wait_for_peer(void)
{
    const int *last = in + WORDS - 1;
    int expected = (peer + 1) * 1000003 + WORDS - 1;
    tell(came(&last, &expected, 1));
}

/* Each exchange waits before it completes, so that only a progress thread can move its data. */

static int waited(MPI_Request *requests, int count, const int *last, int expected)
{
    int moved = came(&last, &expected, 1);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return moved;
}

static void point_to_point(int persistent)
{
    MPI_Request requests[2];
    int expected = (peer + 1) * 1000003 + WORDS - 1, moved;
    if (persistent) {
        MPI_Recv_init(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        moved = 1;
        for (int i = 0; i < 3; i++) {
            in[WORDS - 1] = -1;
            MPI_Startall(2, requests);
            moved &= waited(requests, 2, in + WORDS - 1, expected);
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    } else {
        MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        moved = waited(requests, 2, in + WORDS - 1, expected);
    }
    tell(moved);
    check(is_peers());
}

/* Small messages, of which the helper is not told while it sleeps, begun before large ones and
 * completed while those are open, and the other way round; from any source, and from nobody. */
static void mixed(void)
{
    MPI_Request small[3], large[2];
    int expected = (peer + 1) * 1000003 + WORDS - 1, right = 1, moved = 1;
    for (int turn = 0; turn < 40; turn++) {
        int got = -1, given = 100 * rank + turn, nothing = -1, is_large = turn % 10 == 5;
        int source = turn % 2 ? MPI_ANY_SOURCE : peer;
        if (is_large)
            in[WORDS - 1] = -1;
        MPI_Irecv(&got, 1, MPI_INT, source, 1, MPI_COMM_WORLD, &small[0]);
        if (is_large && turn < 20)
            MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &large[0]);
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &small[1]);
        MPI_Isend(&given, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &small[2]);
        if (is_large && turn >= 20)
            MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &large[0]);
        if (is_large) {
            MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &large[1]);
            moved &= waited(large, 2, in + WORDS - 1, expected);
        }
        MPI_Waitall(3, small, MPI_STATUSES_IGNORE);
        right &= got == 100 * peer + turn && nothing == -1;
    }
    tell(moved);
    check(right && is_peers());
}

static void alltoall(void)
{
    MPI_Request request;
    const int half = WORDS / 2;
    MPI_Ialltoall(out, half, MPI_INT, in, half, MPI_INT, MPI_COMM_WORLD, &request);
    /* the peer's block for this rank */
    int moved = waited(&request, 1, in + peer * half + half - 1,
                       (peer + 1) * 1000003 + rank * half + half - 1);
    tell(moved);
    int right = 1;
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < half; i++)
            right &= in[r * half + i] == (r + 1) * 1000003 + rank * half + i;
    check(right);
}

static int sum_of(int i)
{
    return 3 * 1000003 + 2 * i;
}

static void allreduce(MPI_Op op)
{
    MPI_Request request;
    MPI_Iallreduce(out, in, WORDS, MPI_INT, op, MPI_COMM_WORLD, &request);
    int moved = waited(&request, 1, in + WORDS - 1, sum_of(WORDS - 1));
    tell(moved);
    int right = 1;
    for (int i = 0; i < WORDS; i++)
        right &= in[i] == sum_of(i);
    check(right);
}

static pthread_t main_thread;
static int elsewhere;

static void add(void *a, void *b, int *count, MPI_Datatype *type)
{
    (void)type;
    if (!pthread_equal(pthread_self(), main_thread))
        elsewhere++;
    for (int i = 0; i < *count; i++)
        ((int *)b)[i] += ((int *)a)[i];
}

/* The program's own reduction must not run in a thread that it does not know. */
static void own_operation(void)
{
    MPI_Op op;
    main_thread = pthread_self();
    MPI_Op_create(add, 1, &op);
    allreduce(op);
    MPI_Op_free(&op);
    if (elsewhere)
        puts("in another thread");
}

/* A thread beside the program might break what these do. */

static void forking(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Request requests[2];
        MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            i % 2 ? _exit(7) : (execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL), _exit(1));
        int status;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
            puts("the child failed");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    check(is_peers());
}

static void *one_thread(void *number)
{
    int tag = (int)(intptr_t)number, right = 1;
    int *mine = malloc(WORDS * sizeof *mine), *got = malloc(WORDS * sizeof *got);
    for (int turn = 0; turn < 10; turn++) {
        MPI_Request requests[2];
        for (int i = 0; i < WORDS; i++)
            mine[i] = rank + tag + turn + i;
        MPI_Irecv(got, WORDS, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(mine, WORDS, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[1]);
        usleep(2000);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WORDS; i++)
            right &= got[i] == peer + tag + turn + i;
    }
    free(mine);
    free(got);
    return (void *)(intptr_t)right;
}

static void threads(void)
{
    pthread_t callers[3];
    void *right;
    int all = 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&callers[i], NULL, one_thread, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 3; i++) {
        pthread_join(callers[i], &right);
        all &= right != NULL;
    }
    check(all);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals += pthread_equal(pthread_self(), main_thread) ? 1 : 1000000;
}

/* They are the program's: none is taken by the helper. */
static void signalled(void)
{
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    MPI_Request requests[2];
    MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 200; i++) {
        kill(getpid(), SIGUSR1);
        usleep(100);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(is_peers() && signals > 0 && signals < 1000000);
}

/* The communicator goes while its messages are open, and so do their requests. */
static void freed(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(in, WORDS, MPI_INT, peer, 0, comm, &requests[0]);
        MPI_Isend(out, WORDS, MPI_INT, peer, 0, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Request_free(&requests[1]);
        usleep(1000);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check(is_peers());
}

/* A receive that is too small: an error of the program's own call, not of a look. (MPI_Wait: under
 * MPI_THREAD_MULTIPLE MPI_Waitall of Open MPI 4.1 never returns where a request failed before.) */
static void truncated(void)
{
    MPI_Request requests[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(in, WORDS / 2, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    usleep(30000);
    int class, result = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Error_class(result, &class);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check(class == MPI_ERR_TRUNCATE);
}

static void levels(const char *required)
{
    int level, main_thread_is_it;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&main_thread_is_it);
    if (rank == 0)
        printf("asked %s told %d main %d\n", required, level, main_thread_is_it);
}

/* The thread of this process that has this name; 0 where none has. */
static pid_t thread_named(const char *wanted)
{
    char file[300], name[32] = "";
    pid_t found = 0;
    DIR *all = opendir("/proc/self/task");
    for (struct dirent *one; all && (one = readdir(all));) {
        snprintf(file, sizeof file, "/proc/self/task/%s/comm", one->d_name);
        FILE *comm = fopen(file, "r");
        if (comm && fscanf(comm, "%31s", name) == 1 && !strcmp(name, wanted))
            found = (pid_t)atoi(one->d_name);
        if (comm)
            fclose(comm);
    }
    closedir(all);
    return found;
}

/* It may run where the process may, though its first thread is bound meanwhile, and no sooner. */
static void placed(const cpu_set_t *at_start)
{
    cpu_set_t its;
    pid_t helper = thread_named("imbrex-progress");
    int right = helper != 0 && sched_getaffinity(helper, sizeof its, &its) == 0 &&
                CPU_EQUAL(&its, at_start) &&
                getpriority(PRIO_PROCESS, (id_t)helper) == getpriority(PRIO_PROCESS, 0) &&
                sched_getscheduler(helper) == sched_getscheduler(0);
    check(right);
}

/* Rank 0 has a receive open for 0.4 s, inside MPI or asleep outside. */
static void with_one_open(int inside)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
        if (!inside)
            usleep(400000);
        MPI_Recv(NULL, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, peer, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        if (inside)
            usleep(400000);
        MPI_Send(NULL, 0, MPI_INT, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD);
    }
    check(rank == 1 || is_peers());
}

static void post(void)
{
    static MPI_Request requests[2];
    MPI_Irecv(in, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "", *required = argc > 2 ? argv[2] : "init";
    int provided = -1;
    cpu_set_t at_start, one;
    sched_getaffinity(0, sizeof at_start, &at_start);
    if (!strcmp(scenario, "placed")) { /* as OpenMP binds the thread that calls MPI_Init */
        CPU_ZERO(&one);
        for (int i = 0; !CPU_COUNT(&one); i++)
            if (CPU_ISSET(i, &at_start))
                CPU_SET(i, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    if (strcmp(required, "init"))
        MPI_Init_thread(&argc, &argv, atoi(required), &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    out = malloc(WORDS * sizeof *out);
    in = malloc(WORDS * sizeof *in);
    fill();
    meet(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(scenario, "message"))
        point_to_point(0);
    else if (!strcmp(scenario, "mixed"))
        mixed();
    else if (!strcmp(scenario, "persistent"))
        point_to_point(1);
    else if (!strcmp(scenario, "alltoall"))
        alltoall();
    else if (!strcmp(scenario, "allreduce"))
        allreduce(MPI_SUM);
    else if (!strcmp(scenario, "inside") || !strcmp(scenario, "outside"))
        with_one_open(!strcmp(scenario, "inside"));
    else if (!strcmp(scenario, "own-operation"))
        own_operation();
    else if (!strcmp(scenario, "fork"))
        forking();
    else if (!strcmp(scenario, "threads"))
        threads();
    else if (!strcmp(scenario, "signals"))
        signalled();
    else if (!strcmp(scenario, "freed"))
        freed();
    else if (!strcmp(scenario, "truncated"))
        truncated();
    else if (!strcmp(scenario, "placed"))
        placed(&at_start);
    else if (!strcmp(scenario, "levels")) {
        levels(required);
        if (rank == 0 && provided >= 0)
            printf("provided %d\n", provided);
    } else if (!strcmp(scenario,
                       "finalize")) { /* wrong in MPI, but it must not hang because of us */
        post();
        wait_for_peer();
    } else { /* it ends with messages open */
        post();
        usleep(3000);
        fflush(stdout);
        if (!strcmp(scenario, "exit"))
            exit(0);
        if (!strcmp(scenario, "kill"))
            raise(SIGKILL);
        if (!strcmp(scenario, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    part();
    MPI_Finalize();
    return 0;
}
