/* A library that is compiled without the wrappers writes what is sent and reads what came. */
#include <mpi.h>

enum { N = 50, ITERATIONS = 80 };

void fill(double *values, int count, int step);
double total(const double *values, int count);

#ifdef LIBRARY
void fill(double *values, int count, int step)
{
    /* Words on the stack that look like no address at all. */
    volatile long small[64];
    for (int i = 0; i < 64; i++)
        small[i] = i % 8;
    for (int i = 0; i < count; i++)
        values[i] = step + i;
}

double total(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}
#else
static double out[N], in[N];
static volatile double sink;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < ITERATIONS; step++) {
        fill(out, N, step); /* writes */
        MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 1, in, N, MPI_DOUBLE, 1 - rank, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sink = total(in, N); /* reads */
    }
    MPI_Finalize();
    return 0;
}
#endif
