/* One message at a time between two ranks, each in a section of its own:
 *
 *     truth SEED COUNT OUT
 *
 * Waits come late, tests are rare or many, sends return before their data has left, receives are
 * posted early and late. Rank R writes OUT.R, times in ns of CLOCK_REALTIME: "message K BYTES
 * FROM", "call BEGIN END" of each of its calls, "end NS". Between messages the network is quiet. */
#include <imbrex/imbrex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 3000000 };
static int rank;
static char *buffer;
static FILE *out;
static unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define CALL(...)                                                                                  \
    do {                                                                                           \
        long long begin = now_ns();                                                                \
        __VA_ARGS__;                                                                               \
        fprintf(out, "call %lld %lld\n", begin, now_ns());                                         \
    } while (0)

static void work(double ms)
{
    long long end = now_ns() + (long long)(ms * 1e6);
    volatile double x = 1;
    while (now_ns() < end)
        for (int i = 0; i < 1000; i++)
            x = x * 0.999999 + 1e-6;
}

static void quiet(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    struct timespec pause = {.tv_nsec = 40000000};
    nanosleep(&pause, NULL);
}

/* Work in pieces with a test after each. */
static void computation(double ms, int pieces, MPI_Request *request)
{
    for (int i = 0; i < pieces; i++) {
        int done;
        work(ms / pieces);
        if (pieces > 1 && *request != MPI_REQUEST_NULL)
            CALL(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

static void send(int how, int bytes, double ms, int pieces)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 0)
        CALL(MPI_Send(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD));
    else if (how == 1)
        CALL(MPI_Issend(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    else
        CALL(MPI_Isend(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    computation(ms, pieces, &request);
    if (how)
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void receive(int how, int bytes, double ms, int pieces)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 2) /* late */
        work(ms / 2);
    if (how == 0)
        CALL(MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        CALL(MPI_Irecv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    computation(ms, pieces, &request);
    if (how)
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {60000, 200000, 500000, 1000000, 2000000, MOST};
    static const int pieces[] = {1, 3, 40};
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4)
        return 2;
    state = strtoull(argv[1], NULL, 10);
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    out = fopen(name, "w");
    buffer = calloc(1, MOST);
    if (!out || !buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < atoi(argv[2]); k++) {
        int bytes = sizes[draw(6)] + 16 * k, from = (int)draw(2), how = (int)draw(3);
        int then = (int)draw(3), tests = pieces[draw(3)], others = pieces[draw(3)];
        double ms = draw(60), other_ms = draw(60);
        quiet();
        fprintf(out, "message %d %d %d %lld\n", k, bytes, from, now_ns());
        snprintf(name, sizeof name, "m%d", k);
        imbrex_begin(name);
        if (rank == from)
            send(how, bytes, ms, tests);
        else
            receive(then, bytes, other_ms, others);
        imbrex_end(name);
        struct timespec pause = {.tv_nsec = 60000000}; /* what a send left behind leaves now */
        nanosleep(&pause, NULL);
        fprintf(out, "end %lld\n", now_ns());
    }
    fclose(out);
    MPI_Finalize();
    return 0;
}
