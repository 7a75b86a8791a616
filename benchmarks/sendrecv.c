/* Two ranks send each other messages, then work, as a program that overlaps nothing:
 *   sendrecv BYTES WORK_MS ITERATIONS
 * The messages and the amount of work are those of tests/network/exchange.c. With OVERLAPPED
 * defined it is what a programmer makes of it: nonblocking, with 100 MPI_Testall in the work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sum;

static void work(long turns)
{
    double x = sum;
    for (long i = 0; i < turns; i++)
        x = x * 0.999999 + 1e-6;
    sum = x;
}

static long turns_for(double seconds)
{
    const long turns = 2000000;
    double shortest = 1e9;
    for (int i = 0; i < 20; i++) {
        double start = MPI_Wtime();
        work(turns);
        double took = MPI_Wtime() - start;
        shortest = took < shortest ? took : shortest;
    }
    return (long)(seconds / shortest * (double)turns);
}

#ifdef OVERLAPPED
static void overlapped(char *out, char *in, int bytes, int peer, long turns)
{
    MPI_Request requests[2];
    MPI_Irecv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 100; i++) {
        int done;
        work(turns / 100);
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
#else
static void swap(char *out, char *in, int bytes, int peer)
{
    MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 0, in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int bytes = atoi(argv[1]), iterations = atoi(argv[3]), peer = 1 - rank;
    char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
    memset(out, rank + 1, (size_t)bytes);
    memset(in, 0, (size_t)bytes);
    long turns = turns_for(atof(argv[2]) * 1e-3);
    for (int i = 0; i < iterations; i++) {
#ifdef OVERLAPPED
        overlapped(out, in, bytes, peer, turns);
#else
        swap(out, in, bytes, peer);
        work(turns);
#endif
    }
    int right = in[0] == peer + 1 && in[bytes - 1] == peer + 1 && sum > 0, all_right;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return !all_right;
}
