/* Receives completed by MPI_Waitsome and MPI_Testsome, alone and together, in an order that
 * messages force: the second is sent only when its receiver says that the first is complete. */
#include <mpi.h>
#include <stddef.h>

enum { N = 12, ITERATIONS = 6 };

static double out[6][N], in[6][N];
static volatile double sink;
static int other;

static void read_through(int tag, int backwards)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[tag - 1][backwards ? N - 1 - i : i];
    sink = sum;
}

static MPI_Request request_to_receive(int tag)
{
    MPI_Request request;
    MPI_Irecv(in[tag - 1], N, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &request);
    return request;
}

static void send(int tag)
{
    MPI_Send(out[tag - 1], N, MPI_DOUBLE, other, tag, MPI_COMM_WORLD);
}

static void expect(int is_so)
{
    if (!is_so)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Both sides have come here. */
static void meet(void)
{
    MPI_Sendrecv(NULL, 0, MPI_INT, other, 9, NULL, 0, MPI_INT, other, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void one_after_the_other(int first, int tests)
{
    int count = 0, which[2];
    MPI_Request requests[2] = {request_to_receive(first), request_to_receive(first + 1)};
    for (int k = 0; k < 2; k++) {
        send(first + k);
        if (tests)
            do
                MPI_Testsome(2, requests, &count, which, MPI_STATUSES_IGNORE);
            while (count == 0);
        else
            MPI_Waitsome(2, requests, &count, which, MPI_STATUSES_IGNORE);
        read_through(first + k, k == 0);
        expect(count == 1 && which[0] == k);
        meet();
    }
}

static void both_in_one_call(int first)
{
    int count, which[2];
    MPI_Request requests[2] = {request_to_receive(first), request_to_receive(first + 1)};
    send(first);
    send(first + 1);
    for (int k = 0; k < 2; k++)
        for (int there = 0; !there;)
            MPI_Request_get_status(requests[k], &there, MPI_STATUS_IGNORE);
    MPI_Waitsome(2, requests, &count, which, MPI_STATUSES_IGNORE);
    read_through(first + 1, 0);
    read_through(first, 1);
    expect(count == 2);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int step = 0; step < ITERATIONS; step++) {
        for (int tag = 1; tag <= 6; tag++)
            for (int i = 0; i < N; i++)
                out[tag - 1][tag % 2 ? N - 1 - i : i] = step + i;
        one_after_the_other(1, 0);
        one_after_the_other(3, 1);
        both_in_one_call(5);
    }
    MPI_Finalize();
    return 0;
}
