/* Two ranks send each other messages, then work, as a program that overlaps nothing:
 *   sendrecv BYTES WORK_MS ITERATIONS
 * The messages and the amount of work are those of tests/network/exchange.c. */
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

static void swap(char *out, char *in, int bytes, int peer)
{
    MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 0, in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

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
        swap(out, in, bytes, peer);
        work(turns);
    }
    int right = in[0] == peer + 1 && in[bytes - 1] == peer + 1;
    MPI_Finalize();
    return right && sum > 0 ? 0 : 1;
}
