/* Receives from any rank and with any tag, of every form, and a message to oneself. Every rank
 * sends a row to the next; rank 0 collects one from each of the others, tag by step. */
#include <mpi.h>
#include <stdio.h>

enum { N = 512, STEPS = 12 };
static double row[N], from_left[N], sum[N], own[N];

static void add(double *to, const double *from)
{
    for (int i = 0; i < N; i++)
        to[i] += from[i];
}

int main(int argc, char **argv)
{
    int rank, size, index;
    MPI_Request again, q[2];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv_init(from_left, N, MPI_DOUBLE, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &again);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++)
            row[i] = 0.5 * row[i] + i + step;
        MPI_Irecv(from_left, N, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(row, N, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD,
                  &q[1]); /* to the next */
        if (step % 2 == 0)
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        else
            for (int k = 0; k < 2; k++)
                MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
        add(sum, from_left);
        MPI_Start(&again);
        MPI_Send(row, N, MPI_DOUBLE, (rank + 1) % size, 8, MPI_COMM_WORLD); /* once more */
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        add(sum, from_left);
        MPI_Sendrecv(sum, N, MPI_DOUBLE, rank, 3, own, N, MPI_DOUBLE, rank, 3, MPI_COMM_WORLD,
                     &status); /* to oneself */
        add(row, own);
        if (rank > 0)
            MPI_Send(row, N, MPI_DOUBLE, 0, 10 + step % 2, MPI_COMM_WORLD); /* collected */
        for (int k = 1; rank == 0 && k < size; k++) {
            MPI_Recv(from_left, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     &status);
            add(sum, from_left);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&again);
    MPI_Finalize();
    return 0;
}
