/* What may become of a run, each ending by its name. Rank 0 sends 50 messages to rank 1. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char buffer[100000];
int main(int argc, char **argv)
{
    int rank, size;
    const char *ending = argc > 1 ? argv[1] : "end";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 50 && size > 1; i++) {
        if (rank == 0)
            MPI_Send(buffer, 100000, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* line 18 */
        else if (rank == 1)
            MPI_Recv(buffer, 100000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char line[100] = "";
        if (!strcmp(ending, "cat") && fgets(line, sizeof line, stdin))
            printf("read %s", line);
        printf("out of rank 0\n");
        fprintf(stderr, "err of rank 0\n");
        fflush(stdout);
    }
    if (!strcmp(ending, "abort") && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(ending, "segv") && rank == 1)
        raise(SIGSEGV);
    if (!strcmp(ending, "kill") && rank == 1)
        raise(SIGKILL);
    if (!strcmp(ending, "exit") && rank == 1)
        exit(5);
    if (!strcmp(ending, "_exit") && rank == 1)
        _exit(6);
    for (int i = 0; i < 20000 && !strcmp(ending, "chatty"); i++)
        printf("rank %d, line %d of many\n", rank, i);
    if (!strcmp(ending, "leave") && chdir("/"))
        return 1;
    if (!strcmp(ending, "sleep"))
        sleep(60);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !strcmp(ending, "code") ? 9 : 0;
}
