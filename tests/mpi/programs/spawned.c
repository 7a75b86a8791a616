/* Messages from a process that another one started, received from anybody and from it by name. */
#include "expect.h"

int main(int argc, char **argv)
{
    char data[64] = {0};
    MPI_Comm family;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&family);
    int parent = family == MPI_COMM_NULL;
    if (parent)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &family,
                       MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 20; i++) {
        if (!parent) {
            MPI_Send(data, sizeof data, MPI_BYTE, 0, 0, family);
            continue;
        }
        MPI_Irecv(data, sizeof data, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : 0, 0, family, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&family);
    MPI_Finalize();
    return 0;
}
