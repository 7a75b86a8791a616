/* Persistent requests: made once, started in each step. Rows are sent from the grid itself, columns
 * from buffers that they are packed into. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define AT(a, i, j) a[(i) * (ny + 2) + (j)]
int main(int argc, char **argv)
{
    int rank, size, i, j, step, nx = 40, ny = 30;
    double sum = 0.0, total;
    MPI_Request req[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double *u = malloc((nx + 2) * (ny + 2) * sizeof(double));
    double *v = malloc((nx + 2) * (ny + 2) * sizeof(double));
    double *sw = malloc(nx * sizeof(double)), *se = malloc(nx * sizeof(double));
    double *rw = malloc(nx * sizeof(double)), *re = malloc(nx * sizeof(double));
    for (i = 0; i < nx + 2; i++)
        for (j = 0; j < ny + 2; j++)
            AT(u, i, j) = AT(v, i, j) = i * 0.25 + j * j * 0.001 + rank;
    MPI_Recv_init(&AT(u, 0, 1), ny, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &req[0]);
    MPI_Recv_init(&AT(u, nx + 1, 1), ny, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &req[1]);
    MPI_Recv_init(rw, nx, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &req[2]);
    MPI_Recv_init(re, nx, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &req[3]);
    MPI_Send_init(&AT(u, 1, 1), ny, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &req[4]);
    MPI_Send_init(&AT(u, nx, 1), ny, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &req[5]);
    MPI_Send_init(sw, nx, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &req[6]);
    MPI_Send_init(se, nx, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &req[7]);
    for (step = 0; step < 12; step++) {
        for (i = 1; i <= nx; i++) {
            sw[i - 1] = AT(u, i, 1);
            se[i - 1] = AT(u, i, ny);
        }
        MPI_Startall(8, req);
        MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
        for (i = 1; i <= nx; i++) {
            AT(u, i, 0) = rw[i - 1];
            AT(u, i, ny + 1) = re[i - 1];
        }
        for (i = 1; i <= nx; i++)
            for (j = 1; j <= ny; j++)
                AT(v, i, j) = 0.25 * (AT(u, i - 1, j) + AT(u, i + 1, j) +
                                      AT(u, i, j - 1) + AT(u, i, j + 1));
        for (i = 1; i <= nx; i++)
            for (j = 1; j <= ny; j++)
                AT(u, i, j) = AT(v, i, j);
        if (step % 5 == 0 && rank == 0)
            printf("step %d %.10f\n", step, AT(u, 3, 3));
    }
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++)
            sum += AT(u, i, j);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12f\n", total);
    for (i = 0; i < 8; i++)
        MPI_Request_free(&req[i]);
    free(u);
    free(v);
    free(sw);
    free(se);
    free(rw);
    free(re);
    MPI_Finalize();
    return 0;
}
