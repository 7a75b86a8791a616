/* Persistent requests that one routine makes, and another starts and waits for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int nx = 48, ny = 48;
static double *u, *v;
static double sw[64], se[64], rw[64], re[64];
static MPI_Request req[8];
static int nreq;
static int up, down, left, right;
#define AT(a, i, j) a[(i) * (ny + 2) + (j)]
static void setup(int rank, int size)
{
    up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    nreq = 0;
    MPI_Recv_init(&AT(u, 0, 1), ny, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Recv_init(&AT(u, nx + 1, 1), ny, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Recv_init(rw, nx, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Recv_init(re, nx, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Send_init(&AT(u, 1, 1), ny, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Send_init(&AT(u, nx, 1), ny, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Send_init(sw, nx, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &req[nreq++]);
    MPI_Send_init(se, nx, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &req[nreq++]);
}
static void exchange(void)
{
    int i;
    for (i = 1; i <= nx; i++) {
        sw[i - 1] = AT(u, i, 1);
        se[i - 1] = AT(u, i, ny);
    }
    MPI_Startall(nreq, req);
    MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE);
    for (i = 1; i <= nx; i++) {
        AT(u, i, 0) = rw[i - 1];
        AT(u, i, ny + 1) = re[i - 1];
    }
}
static void sweep(void)
{
    int i, j;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++)
            AT(v, i, j) = 0.25 * (AT(u, i - 1, j) + AT(u, i + 1, j) +
                                  AT(u, i, j - 1) + AT(u, i, j + 1));
}
static void copy(void)
{
    int i, j;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++)
            AT(u, i, j) = AT(v, i, j);
}
int main(int argc, char **argv)
{
    int rank, size, i, j, step;
    double sum = 0.0, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    u = malloc((nx + 2) * (ny + 2) * sizeof(double));
    v = malloc((nx + 2) * (ny + 2) * sizeof(double));
    for (i = 0; i < nx + 2; i++)
        for (j = 0; j < ny + 2; j++)
            AT(u, i, j) = AT(v, i, j) = i * 0.25 + j * j * 0.001 + rank;
    setup(rank, size);
    for (step = 0; step < 12; step++) {
        exchange();
        sweep();
        copy();
    }
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++)
            sum += AT(u, i, j);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12f\n", total);
    for (i = 0; i < nreq; i++)
        MPI_Request_free(&req[i]);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
