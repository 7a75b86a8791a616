/* files PATH: rank 1 enters a collective write late; then each rank reads what it wrote alone. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    static char out[BYTES], in[BYTES];
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(out, rank + 1, sizeof out);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 1)
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, (MPI_Offset)rank * BYTES, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (memcmp(out, in, BYTES) != 0)
        printf("wrong\n");
    MPI_Finalize();
    return 0;
}
