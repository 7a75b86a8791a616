/* A lattice of structures whose neighbours are found by a table; whole rows are exchanged. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NX 64
#define NY 48
#define Q 9
typedef struct { double f[Q]; } node_t;
static node_t lattice[NY + 2][NX], tmp[NY + 2][NX];
static const int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double w[Q] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                            1. / 36, 1. / 36, 1. / 36, 1. / 36};

static void halo(int up, int down, MPI_Datatype t)
{
    MPI_Request r[4];
    MPI_Irecv(lattice[0], NX, t, up, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(lattice[NY + 1], NX, t, down, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(lattice[1], NX, t, up, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(lattice[NY], NX, t, down, 1, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void stream_collide(double omega)
{
    for (int y = 1; y <= NY; y++)
        for (int x = 1; x < NX - 1; x++) {
            double g[Q], rho = 0, ux = 0, uy = 0;
            for (int q = 0; q < Q; q++) {
                g[q] = lattice[y - ey[q]][x - ex[q]].f[q];
                rho += g[q];
                ux += g[q] * ex[q];
                uy += g[q] * ey[q];
            }
            ux /= rho;
            uy /= rho;
            for (int q = 0; q < Q; q++) {
                double eu = ex[q] * ux + ey[q] * uy;
                double eq = w[q] * rho * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * (ux * ux + uy * uy));
                tmp[y][x].f[q] = g[q] + omega * (eq - g[q]);
            }
        }
}

static void copy_back(void)
{
    for (int y = 1; y <= NY; y++)
        for (int x = 1; x < NX - 1; x++)
            for (int q = 0; q < Q; q++)
                lattice[y][x].f[q] = tmp[y][x].f[q];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = (rank + size - 1) % size, down = (rank + 1) % size;
    MPI_Datatype t;
    MPI_Type_contiguous(Q, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    for (int y = 0; y < NY + 2; y++)
        for (int x = 0; x < NX; x++)
            for (int q = 0; q < Q; q++)
                lattice[y][x].f[q] = w[q] * (1 + 0.01 * ((x + y + rank) % 5));
    for (int step = 0; step < 20; step++) {
        halo(up, down, t);
        stream_collide(0.8);
        copy_back();
    }
    double s = 0, total;
    for (int y = 1; y <= NY; y++)
        for (int x = 0; x < NX; x++)
            for (int q = 0; q < Q; q++)
                s += lattice[y][x].f[q] * (q + 1);
    MPI_Reduce(&s, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12f\n", total);
    MPI_Finalize();
    return 0;
}
