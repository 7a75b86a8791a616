/* Each kind of transfer under a progress thread, two ranks: operations WHAT. As in helped.c large data
 * is on its way while no rank makes a call of MPI; rank 0 prints `moved` if all of it came
 * nevertheless, else `not moved`, and after completion `right` if each byte is. `none` where the
 * library has no such kind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helped.h"

enum { PARTITIONS = 4, BUSY_MS = 100 };

static int last_of_peer(void)
{
    return (peer + 1) * 1000003 + WORDS - 1;
}

static int its_last_word_came(void)
{
    const int *last = in + WORDS - 1;
    int expected = last_of_peer();
    return came(&last, &expected, 1);
}

static void broadcast(void)
{
    MPI_Request request;
    int right = 1, moved = 1, *data = rank ? in : out;
    MPI_Ibcast(data, WORDS, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 1)
        moved = its_last_word_came();
    else /* the root sees nothing come: it computes for a while */
        for (double end = MPI_Wtime() + BUSY_MS * 1e-3; MPI_Wtime() < end;)
            continue;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell(moved);
    if (rank == 1)
        right = is_peers();
    check(right);
}

/* Both ranks write into the other's window, or read it. The epoch is theirs together, or each locks
 * the other's; with a request of its own the transfer is complete before the epoch is. */
static void one_sided(int reads, int locks, int has_request)
{
    MPI_Win win;
    MPI_Request request = MPI_REQUEST_NULL;
    int *window = reads ? out : in, *origin = reads ? in : out;
    MPI_Win_create(window, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (locks)
        MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    else
        MPI_Win_fence(0, win);
    if (reads && has_request)
        MPI_Rget(origin, WORDS, MPI_INT, peer, 0, WORDS, MPI_INT, win, &request);
    else if (reads)
        MPI_Get(origin, WORDS, MPI_INT, peer, 0, WORDS, MPI_INT, win);
    else if (has_request)
        MPI_Rput(origin, WORDS, MPI_INT, peer, 0, WORDS, MPI_INT, win, &request);
    else
        MPI_Put(origin, WORDS, MPI_INT, peer, 0, WORDS, MPI_INT, win);
    int moved = its_last_word_came();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (locks)
        MPI_Win_unlock(peer, win);
    else
        MPI_Win_fence(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(moved);
    check(is_peers());
    MPI_Win_free(&win);
}

/* Open MPI 5 says that it is MPI 3.1, and has these. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static void partitioned(void)
{
    MPI_Request requests[2];
    const int words = WORDS / PARTITIONS;
    int moved = 1;
    MPI_Precv_init(in, PARTITIONS, words, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Psend_init(out, PARTITIONS, words, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (int turn = 0; turn < 2; turn++) {
        in[WORDS - 1] = -1;
        MPI_Startall(2, requests);
        for (int i = PARTITIONS - 1; i >= 0; i--)
            MPI_Pready(i, requests[1]);
        moved &= its_last_word_came();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    tell(moved);
    check(is_peers());
}

static void persistent_collective(void)
{
    MPI_Request request;
    const int half = WORDS / 2;
    const int *last = in + peer * half + half - 1;
    int expected = (peer + 1) * 1000003 + rank * half + half - 1, moved = 1, right = 1;
    MPI_Alltoall_init(out, half, MPI_INT, in, half, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &request);
    for (int turn = 0; turn < 2; turn++) {
        in[peer * half + half - 1] = -1;
        MPI_Start(&request);
        moved &= came(&last, &expected, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    tell(moved);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < half; i++)
            right &= in[r * half + i] == (r + 1) * 1000003 + rank * half + i;
    check(right);
}

/* No MPI_Init: there is no progress thread, and nothing else differs. */
static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "operations", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    peer = 1 - rank;
    fill();
    meet(comm);
    MPI_Irecv(in, WORDS, MPI_INT, peer, 0, comm, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, peer, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int right = is_peers(), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, comm);
    if (rank == 0)
        puts(all ? "right" : "wrong");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    part();
    MPI_Session_finalize(&session);
}
#else
static void partitioned(void)
{
    puts("none");
}

static void persistent_collective(void)
{
    puts("none");
}

static void session(void)
{
    puts("none");
}
#endif

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "";
    out = malloc(WORDS * sizeof *out);
    in = malloc(WORDS * sizeof *in);
    if (!strcmp(scenario, "session")) {
        session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    fill();
    meet(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(scenario, "broadcast"))
        broadcast();
    else if (!strcmp(scenario, "put"))
        one_sided(0, 0, 0);
    else if (!strcmp(scenario, "get"))
        one_sided(1, 0, 0);
    else if (!strcmp(scenario, "put-locked"))
        one_sided(0, 1, 0);
    else if (!strcmp(scenario, "get-locked"))
        one_sided(1, 1, 0);
    else if (!strcmp(scenario, "rput"))
        one_sided(0, 1, 1);
    else if (!strcmp(scenario, "rget"))
        one_sided(1, 1, 1);
    else if (!strcmp(scenario, "partitioned"))
        partitioned();
    else if (!strcmp(scenario, "persistent-collective"))
        persistent_collective();
    part();
    MPI_Finalize();
    return 0;
}
