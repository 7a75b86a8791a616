/* Collectives, blocking and nonblocking, of blocks whose sizes nothing else has. */
#include <math.h>
#include <simgrid/engine.h>
#include <time.h>

#include "program.h"

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, KINDS };
static const char *const names[] = {"Barrier", "Bcast",   "Reduce",    "Allreduce",
                                    "Gather",  "Scatter", "Allgather", "Alltoall"};
static MPI_Request request = MPI_REQUEST_NULL;
static int is_open;
static char name[32]; /* of the last one */
static const int moved_by_it = 0;

static void collect(int kind, int n, int root)
{
    MPI_Comm all = MPI_COMM_WORLD;
    switch (kind) {
    case BARRIER:
        MPI_Barrier(all);
        break;
    case BCAST:
        MPI_Bcast(buffer, n, MPI_BYTE, root, all);
        break;
    case REDUCE:
        MPI_Reduce(buffer, other, n, MPI_BYTE, MPI_BOR, root, all);
        break;
    case ALLREDUCE:
        MPI_Allreduce(buffer, other, n, MPI_BYTE, MPI_BOR, all);
        break;
    case GATHER:
        MPI_Gather(buffer, n, MPI_BYTE, other, n, MPI_BYTE, root, all);
        break;
    case SCATTER:
        MPI_Scatter(buffer, n, MPI_BYTE, other, n, MPI_BYTE, root, all);
        break;
    case ALLGATHER:
        MPI_Allgather(buffer, n, MPI_BYTE, other, n, MPI_BYTE, all);
        break;
    default:
        MPI_Alltoall(buffer, n, MPI_BYTE, other, n, MPI_BYTE, all);
    }
}

static void begin(int kind, int n, int root)
{
    MPI_Comm all = MPI_COMM_WORLD;
    switch (kind) {
    case BARRIER:
        MPI_Ibarrier(all, &request);
        break;
    case BCAST:
        MPI_Ibcast(buffer, n, MPI_BYTE, root, all, &request);
        break;
    case REDUCE:
        MPI_Ireduce(buffer, other, n, MPI_BYTE, MPI_BOR, root, all, &request);
        break;
    case ALLREDUCE:
        MPI_Iallreduce(buffer, other, n, MPI_BYTE, MPI_BOR, all, &request);
        break;
    case GATHER:
        MPI_Igather(buffer, n, MPI_BYTE, other, n, MPI_BYTE, root, all, &request);
        break;
    case SCATTER:
        MPI_Iscatter(buffer, n, MPI_BYTE, other, n, MPI_BYTE, root, all, &request);
        break;
    case ALLGATHER:
        MPI_Iallgather(buffer, n, MPI_BYTE, other, n, MPI_BYTE, all, &request);
        break;
    default:
        MPI_Ialltoall(buffer, n, MPI_BYTE, other, n, MPI_BYTE, all, &request);
    }
}

static void either(int nonblocking)
{
    int kind = (int)draw(KINDS), n = unique_block((int)draw(3) == 0),
        root = (int)draw((uint32_t)ranks);
    int bytes = kind == BARRIER ? 0 : n;
    int rooted = kind == BCAST || kind == REDUCE || kind == GATHER || kind == SCATTER;
    snprintf(name, sizeof name, "MPI_%s%s", nonblocking ? "I" : "", names[kind]);
    if (nonblocking)
        name[5] |= 0x20; /* MPI_Ibcast */
    begin_joining(name, bytes, rooted ? root : -1);
    if (nonblocking)
        CALL(begin(kind, n, root));
    else
        CALL(collect(kind, n, root));
    end_joining(bytes);
    if (!nonblocking)
        completed(name, 0, 1, &moved_by_it);
}

/* Not beside a nonblocking one: SMPI gives messages of both the same tags. */
void blocking_collective(void)
{
    if (!is_open)
        either(0);
}

void begin_collective(void)
{
    either(1);
    is_open = 1;
}

void end_collective(void)
{
    is_open = 0;
    compute();
    if (draw(2)) {
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        completed("MPI_Wait", 0, 1, &moved_by_it);
    }
    int done = request == MPI_REQUEST_NULL;
    for (int64_t since = -1; !done; since = since < 0 ? last_entered() : since) {
        CALL(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (!polling)
            usleep(300);
        else if (done && since >= 0)
            found_by_polls(since, "MPI_Test", 1, &moved_by_it);
    }
}

static void measure(int kind, int n)
{
    static const int root = 0;
    double longest = 0, mine = 0;
    for (int i = 0; i < 3; i++) {
        PMPI_Barrier(MPI_COMM_WORLD);
        /* All leave at one moment: who left a barrier later would find its root's data there. */
        double common_exit = floor(simgrid_get_clock() * 5 + 1) / 5;
        double rest = common_exit - simgrid_get_clock();
        nanosleep(&(struct timespec){.tv_nsec = llround(rest * 1e9)}, NULL);
        double begun = simgrid_get_clock();
        collect(kind, n, root);
        double took = simgrid_get_clock() - begun;
        mine = took > mine ? took : mine;
    }
    PMPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
    if (rank)
        return;
    /* as `imbrex calibrate` has it: the longest of all ranks', by the larger of what one rank
     * contributes and obtains */
    double ns = longest * 1e9;
    int rooted = kind == BCAST || kind == REDUCE || kind == GATHER || kind == SCATTER;
    int blocks = kind == ALLGATHER || kind == ALLTOALL ? ranks : 1;
    fprintf(out, "collective MPI_%s %s %d %.3f\n", names[kind], rooted ? "other" : "any",
            blocks * n, ns);
    if (rooted)
        fprintf(out, "collective MPI_%s root %d %.3f\n", names[kind],
                kind == GATHER || kind == SCATTER ? ranks * n : n, ns);
}

static void half_ping_pong(int n)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    double start = simgrid_get_clock();
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(buffer, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank <= 1)
            MPI_Recv(buffer, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        fprintf(out, "point %d %.3f\n", n, (simgrid_get_clock() - start) / 20 * 1e9);
}

void calibrate(void)
{
    for (int bytes = 1024; bytes <= BIG; bytes *= 2) {
        if (bytes == EAGER)
            half_ping_pong(bytes - 1);
        half_ping_pong(bytes);
    }
    for (int kind = BCAST; kind < KINDS; kind++)
        for (int bytes = 1024; bytes <= BIG / ranks; bytes *= 2)
            measure(kind, bytes);
}
