#include <mpi.h>
#include <stdio.h>
#define NX 300
#define NY 200
static double u[NY + 2][NX + 2], v[NY + 2][NX + 2];
static MPI_Datatype real_type;
static int rank, size;
static void exchange(void)
{
    int up = rank < size - 1 ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&u[NY][1], NX, real_type, up, 1,
                 &u[0][1], NX, real_type, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[1][1], NX, real_type, down, 2,
                 &u[NY + 1][1], NX, real_type, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    real_type = MPI_DOUBLE;
    for (int j = 0; j < NY + 2; j++)
        for (int i = 0; i < NX + 2; i++)
            u[j][i] = (i + 3 * j + rank) % 7;
    for (int it = 0; it < 30; it++) {
        exchange();
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i <= NX; i++)
                v[j][i] = 0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]);
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i <= NX; i++)
                u[j][i] = v[j][i];
    }
    double s = 0, t;
    for (int j = 1; j <= NY; j++)
        for (int i = 1; i <= NX; i++)
            s += u[j][i];
    MPI_Reduce(&s, &t, 1, real_type, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.10e\n", t);
    MPI_Finalize();
    return 0;
}
