/* Poisson's equation on a plate in two colours: a sweep over the cells of one colour reads those of
 * the other. One array with numbered sizes, and one whose rows are as long as the program is told. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 64
#define NY 62
#define AT(i, j) w[(i) * (ny + 2) + (j)]

static double u[NX + 2][NY + 2], f[NX + 2][NY + 2];
static double *w;
static int ny;

static void exchange(int up, int down)
{
    MPI_Sendrecv(u[1], NY + 2, MPI_DOUBLE, up, 0, u[NX + 1], NY + 2, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u[NX], NY + 2, MPI_DOUBLE, down, 1, u[0], NY + 2, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void relax(int color)
{
    for (int i = 1; i <= NX; i++)
        for (int j = 1 + (i + color) % 2; j <= NY; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
}

static void exchange_rows(int up, int down)
{
    MPI_Sendrecv(&AT(1, 0), ny + 2, MPI_DOUBLE, up, 2, &AT(NX + 1, 0), ny + 2, MPI_DOUBLE, down, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&AT(NX, 0), ny + 2, MPI_DOUBLE, down, 3, &AT(0, 0), ny + 2, MPI_DOUBLE, up, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double sum = 0.0;
    int rank, size, i, j;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    ny = argc > 1 ? atoi(argv[1]) : NY;
    w = malloc((size_t)(NX + 2) * (ny + 2) * sizeof(double));
    for (i = 0; i < NX + 2; i++) {
        for (j = 0; j < NY + 2; j++) {
            u[i][j] = 0.01 * ((37 * i + 11 * j + 5 * rank) % 101);
            f[i][j] = 0.001 * ((i * j) % 17);
        }
        for (j = 0; j < ny + 2; j++)
            AT(i, j) = 0.01 * ((17 * i + 31 * j + 3 * rank) % 103);
    }
    for (int step = 0; step < 8; step++) {
        for (int color = 0; color < 2; color++) {
            exchange(up, down);
            relax(color);
        }
        for (int color = 0; color < 2; color++) {
            exchange_rows(up, down);
            for (i = 1; i <= NX; i++)
                for (j = 1; j <= ny; j++)
                    if ((i + j) % 2 == color)
                        AT(i, j) += 0.3 * (AT(i - 1, j) + AT(i + 1, j) + AT(i, j - 1)
                                           + AT(i, j + 1) - 4.0 * AT(i, j));
        }
    }
    for (i = 1; i <= NX; i++) {
        for (j = 1; j <= NY; j++)
            sum += u[i][j] * (i + 2 * j);
        for (j = 1; j <= ny; j++)
            sum += AT(i, j) * (2 * i + j);
    }
    for (i = 0; i < size; i++) {
        if (i == rank)
            printf("%d %.10f\n", rank, sum);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(w);
    MPI_Finalize();
    return 0;
}
