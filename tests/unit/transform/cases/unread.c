/* The statuses of a halo exchange go into an array that nothing looks at. */
#include <mpi.h>
#include <stdio.h>
#include <math.h>
#define NX 256
#define NY 128
static double u[NY + 2][NX], v[NY + 2][NX];
int main(int argc, char **argv)
{
    int rank, size, up, down;
    MPI_Request reqs[4];
    MPI_Status stats[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    for (int i = 0; i < NY + 2; i++)
        for (int j = 0; j < NX; j++)
            u[i][j] = v[i][j] = sin(0.1 * i + j + rank);
    for (int t = 0; t < 30; t++) {
        MPI_Irecv(u[0], NX, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &reqs[0]);
        MPI_Irecv(u[NY + 1], NX, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &reqs[1]);
        MPI_Isend(u[1], NX, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &reqs[2]);
        MPI_Isend(u[NY], NX, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &reqs[3]);
        MPI_Waitall(4, reqs, stats);
        for (int i = 1; i <= NY; i++)
            for (int j = 1; j < NX - 1; j++)
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        for (int i = 1; i <= NY; i++)
            for (int j = 1; j < NX - 1; j++)
                u[i][j] = v[i][j];
    }
    double s = 0, total;
    for (int i = 1; i <= NY; i++)
        for (int j = 0; j < NX; j++)
            s += u[i][j];
    MPI_Reduce(&s, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.10f\n", total);
    MPI_Finalize();
    return 0;
}
