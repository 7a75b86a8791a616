/* A lattice of spinors, four complex numbers each, whose planes go around a ring of ranks; sent as
 * twice as many real numbers. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double complex c[4];
} spinor;

static spinor *field, *hopped;

static void borders(int planes, int sites, int up, int down)
{
    MPI_Sendrecv(&field[planes * sites], 8 * sites, MPI_DOUBLE, up, 0, &field[0], 8 * sites,
                 MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&field[sites], 8 * sites, MPI_DOUBLE, down, 1, &field[(planes + 1) * sites],
                 8 * sites, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void hop(int planes, int sites, double complex kappa)
{
    for (int t = 1; t <= planes; t++)
        for (int x = 0; x < sites; x++)
            for (int k = 0; k < 4; k++)
                hopped[t * sites + x].c[k] =
                    field[t * sites + x].c[k] -
                    kappa * (field[(t - 1) * sites + x].c[k] +
                             conj(kappa) * I * field[(t + 1) * sites + x].c[k]);
}

int main(int argc, char **argv)
{
    int rank, size, planes = 12, sites = 30;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    field = malloc((planes + 2) * sites * sizeof(spinor));
    hopped = malloc((planes + 2) * sites * sizeof(spinor));
    for (int i = 0; i < (planes + 2) * sites; i++)
        for (int k = 0; k < 4; k++)
            hopped[i].c[k] = field[i].c[k] = cexp(I * 0.1 * (i + k + rank));
    for (int step = 0; step < 8; step++) {
        borders(planes, sites, (rank + 1) % size, (rank + size - 1) % size);
        hop(planes, sites, 0.1 + 0.02 * I);
        for (int i = sites; i < (planes + 1) * sites; i++)
            for (int k = 0; k < 4; k++)
                field[i].c[k] = hopped[i].c[k];
    }
    double mine = 0.0, all;
    for (int i = sites; i < (planes + 1) * sites; i++)
        for (int k = 0; k < 4; k++)
            mine += creal(field[i].c[k] * conj(field[i].c[k])) + cimag(field[i].c[k]);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12e\n", all);
    free(field);
    free(hopped);
    MPI_Finalize();
    return 0;
}
