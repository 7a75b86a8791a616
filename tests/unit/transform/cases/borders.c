/* Particles near the borders go to the neighbours: how many first, then the particles. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#define MOST 400
static double x[MOST], f[MOST], outl[MOST], outr[MOST], gl[MOST], gr[MOST];
static int rank, size, left, right, nlocal = 100, ng[2];

static void borders(void)
{
    int n[2] = {0, 0}, m[2] = {0, 0};
    for (int i = 0; i < nlocal; i++) {
        if (x[i] < 0.2)
            outl[n[0]++] = x[i];
        if (x[i] > 0.8)
            outr[n[1]++] = x[i];
    }
    MPI_Sendrecv(&n[0], 1, MPI_INT, left, 1, &m[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&n[1], 1, MPI_INT, right, 2, &m[0], 1, MPI_INT, left, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(outl, n[0], MPI_DOUBLE, left, 3, gr, m[1], MPI_DOUBLE, right, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(outr, n[1], MPI_DOUBLE, right, 4, gl, m[0], MPI_DOUBLE, left, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ng[0] = m[0];
    ng[1] = m[1];
}

static void local_forces(void)
{
    for (int i = 0; i < nlocal; i++) {
        double sum = 0.0;
        for (int j = 0; j < nlocal; j++)
            if (i != j)
                sum += 0.001 * (x[i] - x[j]);
        f[i] = sum;
    }
}

static void ghost_forces(void)
{
    for (int i = 0; i < nlocal; i++)
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < ng[side]; j++)
                f[i] += 0.001 * (x[i] - (side ? gr[j] : gl[j])) + 0.0001 * side;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < nlocal; i++)
        x[i] = (i * 37 + rank * 11) % 100 / 100.0;
    for (int step = 0; step < 10; step++) {
        borders();
        local_forces();
        ghost_forces();
        for (int i = 0; i < nlocal; i++)
            x[i] = 0.5 * x[i] + 0.25 + 0.01 * f[i];
    }
    double sum = 0.0;
    for (int i = 0; i < nlocal; i++)
        sum += x[i] * (1 + i % 7);
    printf("%d %.12g %d %d\n", rank, sum, ng[0], ng[1]);
    MPI_Finalize();
    return 0;
}
