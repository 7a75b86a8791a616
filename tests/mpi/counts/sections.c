/* Sections of a C program; also compiled as C++, with a scope on top. */
#include <imbrex/imbrex.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    imbrex_begin("outer");
    imbrex_begin("inner");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    imbrex_end("inner");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    imbrex_end("outer");
#ifdef __cplusplus
    {
        imbrex::section scope("scope");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
#endif
    imbrex_end("nothing");
    imbrex_begin(NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    imbrex_end(NULL);
    printf("present %d\n", imbrex_present());
    return MPI_Finalize();
}
