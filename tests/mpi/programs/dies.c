/* Ten messages that are each sent 100 ms after their receive was posted, a collective that rank 0
 * enters 300 ms late; then the ranks end as the argument says. */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 10 };

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "finalize";
    int rank;
    char data[1024] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 1) {
            usleep(100000);
            MPI_Send(data, sizeof data, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        } else if (!strcmp(how, "any")) {
            MPI_Recv(data, sizeof data, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, sizeof data, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0)
        usleep(300000);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(300000); /* the launcher ends all ranks with the first: all have left the barrier */
    if (!strcmp(how, "killed") || !strcmp(how, "any"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "one") && rank == 1)
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "aborts") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(how, "exits") && rank == 1)
        _exit(3);
    if (strcmp(how, "finalize"))
        MPI_Recv(data, sizeof data, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
