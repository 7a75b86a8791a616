/* Two threads write and read what their process exchanges. Ranks 0 and 1; each message has its tag.
 */
#include <mpi.h>
#include <omp.h>

enum { N = 24, HALF = N / 2, ITERATIONS = 6 };

static double out[N], in[N], sums[2];
static volatile double sink;
static int other;

static void exchange(int tag)
{
    MPI_Sendrecv(out, N, MPI_DOUBLE, other, tag, in, N, MPI_DOUBLE, other, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void write_half(int half, int step)
{
    for (int i = HALF - 1; i >= 0; i--)
        out[half * HALF + i] = step + half + i;
}

static void read_half(int half)
{
    double sum = 0;
    for (int i = 0; i < HALF; i++)
        sum += in[half * HALF + i];
    sums[half] = sum;
}

/* Each thread exchanges a message of its own: backwards by thread 0, forwards by thread 1. */
static void each_its_own(int step)
{
    static double sent[2][N], got[2][N];
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        double sum = 0;
        for (int i = 0; i < N; i++)
            sent[me][me ? i : N - 1 - i] = step + i;
        MPI_Sendrecv(sent[me], N, MPI_DOUBLE, other, 3 + me, got[me], N, MPI_DOUBLE, other, 3 + me,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += got[me][me ? N - 1 - i : i];
        sums[me] = sum;
    }
    sink = sums[0] + sums[1];
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int step = 0; step < ITERATIONS; step++) {
        /* One thread behind the other: an MPI call lies between them. */
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1)
            write_half(1, step);
        MPI_Barrier(MPI_COMM_WORLD);
        write_half(0, step);
        exchange(1);
        read_half(0);
        MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1)
            read_half(1);

            /* Both at once. */
#pragma omp parallel num_threads(2)
        write_half(omp_get_thread_num(), step);
        exchange(2);
#pragma omp parallel num_threads(2)
        read_half(omp_get_thread_num());
        sink = sums[0] + sums[1];
        if (provided == MPI_THREAD_MULTIPLE && argc > 1)
            each_its_own(step);
    }
    MPI_Finalize();
    return 0;
}
