/* A field of structures: each cell holds three numbers, and whole rows of cells are sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double rho, vx, vy; } cell;

static void exchange(cell *u, int nx, int ny, int up, int down, MPI_Datatype type)
{
    MPI_Sendrecv(&u[1 * nx], nx, type, up, 0, &u[(ny + 1) * nx], nx, type, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[ny * nx], nx * sizeof(cell), MPI_BYTE, down, 1, &u[0], nx * sizeof(cell),
                 MPI_BYTE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void update(const cell *u, cell *w, int nx, int ny)
{
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i < nx - 1; i++) {
            int at = j * nx + i;
            w[at].rho = 0.25 * (u[at - 1].rho + u[at + 1].rho + u[at - nx].rho + u[at + nx].rho);
            w[at].vx = u[at].vx + 0.1 * (u[at].rho - w[at].rho);
            w[at].vy = 0.5 * (u[at - nx].vy + u[at + nx].vy);
        }
}

int main(int argc, char **argv)
{
    int rank, size, nx = 200, ny = 100, steps = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cell *u = calloc(nx * (ny + 2), sizeof(cell)), *w = calloc(nx * (ny + 2), sizeof(cell));
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int j = 0; j < ny + 2; j++)
        for (int i = 0; i < nx; i++) {
            u[j * nx + i].rho = w[j * nx + i].rho = (i * 7 + j * 3 + rank) % 10;
            u[j * nx + i].vx = w[j * nx + i].vx = 0;
            u[j * nx + i].vy = w[j * nx + i].vy = i % 3;
        }
    for (int s = 0; s < steps; s++) {
        exchange(u, nx, ny, up, down, type);
        update(u, w, nx, ny);
        cell *t = u; u = w; w = t;
    }
    double sum = 0, total;
    for (int j = 1; j <= ny; j++)
        for (int i = 0; i < nx; i++)
            sum += u[j * nx + i].rho + u[j * nx + i].vx * 2 + u[j * nx + i].vy;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("checksum %.12f\n", total);
    MPI_Finalize();
    return 0;
}
