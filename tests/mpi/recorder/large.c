/* Calls with large counts (MPI 4). Ranks 0 and 1 exchange. */
#include <mpi.h>

enum { N = 12 };
static double out[2 * N], in[2 * N];
static volatile double sink;

static void backwards(int count)
{
    double sum = 0;
    for (int i = count - 1; i >= 0; i--)
        sum += in[i];
    sink = sum;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Count counts[2] = {N, N};
    MPI_Aint places[2] = {N, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 6; step++) {
        MPI_Request q[2];
        for (int i = N - 1; i >= 0; i--)
            out[i] = step + i;
        MPI_Irecv_c(in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend_c(out, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
        for (int left = 2, index; left > 0; left--)
            MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
        backwards(N);

        for (int i = 0; i < 2 * N; i++)
            out[i] = step - i;
        MPI_Alltoallv_c(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE,
                        MPI_COMM_WORLD);
        backwards(2 * N);
    }
    MPI_Finalize();
    return 0;
}
