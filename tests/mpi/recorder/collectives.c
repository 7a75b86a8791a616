/* Buffers of collectives, and copied handles, with known orders. */
#include <mpi.h>
#include <string.h>

enum { N = 12 };
static double out[2 * N], in[2 * N];
static volatile double sink;

static void forward(void)
{
    double sum = 0;
    for (int i = 0; i < 2 * N; i++)
        sum += in[i];
    sink = sum;
}

int main(int argc, char **argv)
{
    int rank, counts[2] = {N, N}, places[2] = {N, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 6; step++) {
        MPI_Request q[4], again[4];
        for (int i = 2 * N - 1; i >= 0; i--)
            out[i] = step + i;
        MPI_Alltoall(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, MPI_COMM_WORLD);
        forward();
        for (int i = 0; i < N; i++)
            out[i] = step - i;
        /* The blocks arrive in the order of the ranks, the second place first. */
        MPI_Iallgatherv(out, N, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &q[0]);
        again[0] = q[0];
        MPI_Wait(&again[0], MPI_STATUS_IGNORE);
        forward();
        for (int i = N - 1; i >= 0; i--)
            in[i] = step * i;
        MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        /* Added up: what is only copied counts as read where its copy is. */
        double sum = 0;
        for (int i = N - 1; i >= 0; i--)
            sum += in[i];
        sink = sum;
        for (int i = 0; i < N; i++)
            out[i] = in[i];
        MPI_Bcast(out, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            sink = out[i];
        for (int k = 0; k < 2; k++) {
            MPI_Irecv(in + k * N, N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &q[k]);
            MPI_Isend(out + k * N, N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &q[2 + k]);
        }
        memcpy(again, q, sizeof q);
        for (int left = 4, index; left > 0; left--)
            MPI_Waitany(4, again, &index, MPI_STATUS_IGNORE);
        forward();
    }
    MPI_Finalize();
    return 0;
}
