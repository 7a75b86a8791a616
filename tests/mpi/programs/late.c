/* late CASE MS: twenty times one rank is MS ms later than the other in one way of communicating.
 * What the other one waits for then is known. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 20, BYTES = 1 << 16 };

static char out[BYTES], in[BYTES];
static int rank, ranks;
static long pause_ns;

/* When this rank came to the call that is waited for, or waits. */
static long long came[512];
static int times;

static void now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (times < 512)
        came[times++] = t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Both came as often. */
static void tell(int late_rank)
{
    static long long all[512 * 64];
    long long sum = 0;
    MPI_Allgather(came, 512, MPI_LONG_LONG, all, 512, MPI_LONG_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < times; i++) {
        long long late = all[512 * late_rank + i] - all[512 * (1 - late_rank) + i];
        sum += late > 0 ? late : 0;
    }
    if (rank == 0)
        printf("waited %lld\n", sum);
}

static void late(int who)
{
    struct timespec t = {pause_ns / 1000000000, pause_ns % 1000000000};
    if (rank == who)
        nanosleep(&t, NULL);
}

static void receive_late_send(void)
{
    late(0);
    now();
    if (rank == 0)
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 1024, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void wait_for_late_send(void)
{
    MPI_Request request;
    if (rank == 1)
        MPI_Irecv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    late(0);
    now();
    if (rank == 0)
        MPI_Isend(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_for_any_late_send(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index;
    late(0);
    if (rank == 1)
        MPI_Irecv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    now();
    if (rank == 0)
        MPI_Isend(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void start_and_wait_for_late_send(void)
{
    static MPI_Request request = MPI_REQUEST_NULL;
    if (request == MPI_REQUEST_NULL && rank == 1)
        MPI_Recv_init(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    if (request == MPI_REQUEST_NULL && rank == 0)
        MPI_Send_init(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    late(0);
    if (rank == 0)
        now();
    MPI_Start(&request);
    if (rank == 1)
        now();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probe_late_send(void)
{
    late(0);
    now();
    if (rank == 0) {
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        return;
    }
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void test_for_late_send(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1)
        MPI_Irecv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    late(0);
    now();
    if (rank == 0)
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    for (int done = rank == 0; !done;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void test_any_for_late_send(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index;
    if (rank == 1)
        MPI_Irecv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    late(0);
    now();
    if (rank == 0)
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    for (int done = rank == 0; !done;)
        MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
}

/* Two messages, each with a test of its own. */
static void test_in_turn_for_late_sends(void)
{
    MPI_Request first = MPI_REQUEST_NULL, second = MPI_REQUEST_NULL;
    int done = rank == 0, other_done = rank == 0;
    if (rank == 1) {
        MPI_Irecv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &first);
        MPI_Irecv(in + 1024, 1024, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &second);
    }
    late(0);
    now();
    if (rank == 0) {
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Send(out, 1024, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    }
    while (!done || !other_done) {
        if (!done)
            MPI_Test(&first, &done, MPI_STATUS_IGNORE);
        if (!other_done)
            MPI_Test(&second, &other_done, MPI_STATUS_IGNORE);
    }
}

static void probe_for_late_send(void)
{
    late(0);
    now();
    if (rank == 0) {
        MPI_Send(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        return;
    }
    for (int found = 0; !found;)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_exposure(MPI_Win window, int by_tests)
{
    if (!by_tests)
        MPI_Win_wait(window);
    for (int done = !by_tests; !done;)
        MPI_Win_test(window, &done);
}

/* One rank exposes a window to the other: rank 0 posts late, or is late with its complete. */
static void expose(int post_is_late, int by_tests)
{
    int target = post_is_late ? 0 : 1;
    MPI_Win window;
    MPI_Group all, other;
    int peer = 1 - rank;
    MPI_Win_create(in, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (post_is_late) {
        late(0);
        now();
    }
    if (rank == target)
        MPI_Win_post(other, 0, window);
    else
        MPI_Win_start(other, 0, window);
    if (!post_is_late) {
        late(0);
        now();
    }
    if (rank == target)
        end_exposure(window, by_tests);
    else
        MPI_Win_complete(window);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

static void start_before_late_post(void)
{
    expose(1, 0);
}

static void wait_for_late_complete(void)
{
    expose(0, 0);
}

static void test_for_late_complete(void)
{
    expose(0, 1);
}

static void sendrecv_late(void)
{
    late(0);
    now();
    MPI_Sendrecv(out, 1024, MPI_BYTE, 1 - rank, 1, in, 1024, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* A shift in a domain that ends: nobody is before rank 0, nobody behind rank 1. */
static void sendrecv_at_the_edge(void)
{
    late(0);
    now();
    MPI_Sendrecv(out, 1024, MPI_BYTE, rank == 0 ? 1 : MPI_PROC_NULL, 1, in, 1024, MPI_BYTE,
                 rank == 0 ? MPI_PROC_NULL : 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_to_late_receiver(void)
{
    late(1);
    now();
    if (rank == 0)
        MPI_Ssend(out, 1024, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 1024, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void)
{
    late(0);
    now();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    late(0);
    now();
    MPI_Bcast(rank == 0 ? out : in, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Without data nobody has to wait for the root. */
static void empty_bcast(void)
{
    late(0);
    now();
    MPI_Bcast(rank == 0 ? out : in, 0, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(void)
{
    late(0);
    now();
    MPI_Reduce(out, in, BYTES, MPI_BYTE, MPI_BOR, 1, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    late(0);
    now();
    MPI_Alltoall(out, BYTES / ranks, MPI_BYTE, in, BYTES / ranks, MPI_BYTE, MPI_COMM_WORLD);
}

static void allreduce_of_a_copy(void)
{
    static MPI_Comm copy = MPI_COMM_NULL;
    if (copy == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    late(0);
    now();
    MPI_Allreduce(out, in, 8, MPI_BYTE, MPI_BOR, copy);
}

static void ibcast(void)
{
    MPI_Request request;
    late(0);
    if (rank == 0)
        now();
    MPI_Ibcast(rank == 0 ? out : in, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    if (rank != 0)
        now();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*act)(void);
} cases[] = {
    {"test", test_for_late_send},
    {"testany", test_any_for_late_send},
    {"turns", test_in_turn_for_late_sends},
    {"iprobe", probe_for_late_send},
    {"win_start", start_before_late_post},
    {"win_wait", wait_for_late_complete},
    {"win_test", test_for_late_complete},
    {"recv", receive_late_send},
    {"wait", wait_for_late_send},
    {"waitany", wait_for_any_late_send},
    {"start", start_and_wait_for_late_send},
    {"probe", probe_late_send},
    {"sendrecv", sendrecv_late},
    {"edge", sendrecv_at_the_edge},
    {"ssend", send_to_late_receiver},
    {"barrier", barrier},
    {"bcast", bcast},
    {"empty", empty_bcast},
    {"reduce", reduce},
    {"alltoall", alltoall},
    {"allreduce", allreduce_of_a_copy},
    {"ibcast", ibcast},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pause_ns = argc > 2 ? (long)(atof(argv[2]) * 1e6) : 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && (!strcmp(argv[1], cases[i].name) || !strcmp(argv[1], "all")))
            for (int n = 0; n < TIMES; n++)
                cases[i].act();
    tell(argc > 1 && !strcmp(argv[1], "ssend"));
    MPI_Finalize();
    return 0;
}
