/* What a call takes that has nothing to wait for, at this process's level of thread support: the
 * difference between two levels is what the higher one adds to every call. */
#include "engine/engine.h"

enum { REPETITIONS = 60, LEAST_REPETITIONS = 3, CALLS = 1000 };
static const int64_t MOST_NS = 500000000; /* a poll may leave its core, or sleep */

static double polls(MPI_Comm alone)
{
    int flag;
    const int64_t begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        MPI_Iprobe(0, 1, alone, &flag, MPI_STATUS_IGNORE);
    return (double)(now_ns() - begin) / CALLS;
}

/* Three calls each, on 8 bytes to itself. */
static double exchanges(MPI_Comm alone)
{
    double in, out = 1;
    MPI_Request requests[2];
    const int64_t begin = now_ns();
    for (int i = 0; i < CALLS; i++) {
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 0, alone, &requests[0]);
        MPI_Isend(&out, 1, MPI_DOUBLE, 0, 0, alone, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return (double)(now_ns() - begin) / (3.0 * CALLS);
}

static double sendrecvs(MPI_Comm alone)
{
    double in, out = 1;
    const int64_t begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 0, &in, 1, MPI_DOUBLE, 0, 0, alone, MPI_STATUS_IGNORE);
    return (double)(now_ns() - begin) / CALLS;
}

/* The least of many repetitions, which noise cannot lower. The other ranks are quiet meanwhile. */
void run_calls(engine *e)
{
    MPI_Comm alone;
    int level;
    MPI_Query_thread(&level);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    if (e->rank == 0) {
        double poll = 1e30, exchange = 1e30, blocking = 1e30;
        const int64_t begin = now_ns();
        for (int i = 0; i < REPETITIONS; i++) {
            if (i >= LEAST_REPETITIONS && now_ns() - begin > MOST_NS)
                break;
            const double p = polls(alone), x = exchanges(alone), b = sendrecvs(alone);
            poll = p < poll ? p : poll;
            exchange = x < exchange ? x : exchange;
            blocking = b < blocking ? b : blocking;
        }
        row(e, "calls %d %.2f %.2f %.2f", level == MPI_THREAD_MULTIPLE, poll, exchange, blocking);
    }
    MPI_Comm_free(&alone);
}
