/* Two processes start two more, and all four exchange messages: each parent 10 with its child both
 * ways, and 5 with the other parent; then the two groups meet in a barrier and a broadcast, and
 * merged in a sum. Prints what the sum is, once. */
#include <mpi.h>
#include <stdio.h>

enum { MESSAGES = 10, AMONG_PARENTS = 5 };

int main(int argc, char **argv)
{
    char data[64] = {0};
    int rank, one = 1, sum = 0;
    MPI_Comm family, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&family);
    int parent = family == MPI_COMM_NULL;
    if (parent)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family,
                       MPI_ERRCODES_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
        if (parent)
            MPI_Send(data, sizeof data, MPI_BYTE, rank, 1, family);
        MPI_Recv(data, sizeof data, MPI_BYTE, i % 2 ? rank : MPI_ANY_SOURCE, 1, family,
                 MPI_STATUS_IGNORE);
        if (!parent)
            MPI_Send(data, sizeof data, MPI_BYTE, rank, 1, family);
    }
    for (int i = 0; parent && i < AMONG_PARENTS; i++)
        MPI_Sendrecv(data, 32, MPI_BYTE, 1 - rank, 2, data + 32, 32, MPI_BYTE, 1 - rank, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(family);
    MPI_Bcast(data, sizeof data, MPI_BYTE, !parent ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, family);
    MPI_Intercomm_merge(family, !parent, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    if (parent && rank == 0)
        printf("%d processes\n", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&family);
    MPI_Finalize();
    return 0;
}
