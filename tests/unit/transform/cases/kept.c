/* An exchange that allocates its buffers and its requests, and frees them at its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct plate {
    int n, m, low, high;
    double *u, *v;
};

static void exchange(struct plate *p)
{
    int w = p->m + 2;
    double *to_low = malloc(w * sizeof(double)), *to_high = malloc(w * sizeof(double));
    double *from_low = malloc(w * sizeof(double)), *from_high = malloc(w * sizeof(double));
    MPI_Request *requests = malloc(4 * sizeof(MPI_Request));
    for (int j = 0; j < w; j++) {
        to_low[j] = p->u[w + j];
        to_high[j] = p->u[p->n * w + j];
    }
    MPI_Irecv(from_low, w, MPI_DOUBLE, p->low, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_high, w, MPI_DOUBLE, p->high, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(to_low, w, MPI_DOUBLE, p->low, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(to_high, w, MPI_DOUBLE, p->high, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (p->low != MPI_PROC_NULL)
        for (int j = 0; j < w; j++)
            p->u[j] = from_low[j];
    if (p->high != MPI_PROC_NULL)
        for (int j = 0; j < w; j++)
            p->u[(p->n + 1) * w + j] = from_high[j];
    free(to_low);
    free(to_high);
    free(from_low);
    free(from_high);
    free(requests);
}

static void relax(struct plate *p)
{
    int w = p->m + 2;
    for (int i = 1; i <= p->n; i++)
        for (int j = 1; j <= p->m; j++)
            p->v[i * w + j] = 0.25 * (p->u[(i - 1) * w + j] + p->u[(i + 1) * w + j] +
                                      p->u[i * w + j - 1] + p->u[i * w + j + 1]);
}

static void copy(struct plate *p)
{
    int w = p->m + 2;
    for (int i = 1; i <= p->n; i++)
        for (int j = 1; j <= p->m; j++)
            p->u[i * w + j] = p->v[i * w + j];
}

int main(int argc, char **argv)
{
    struct plate p = {20, 24, MPI_PROC_NULL, MPI_PROC_NULL, NULL, NULL};
    int rank, size;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        p.low = rank - 1;
    if (rank + 1 < size)
        p.high = rank + 1;
    p.u = calloc((p.n + 2) * (p.m + 2), sizeof(double));
    p.v = calloc((p.n + 2) * (p.m + 2), sizeof(double));
    for (int i = 0; i < (p.n + 2) * (p.m + 2); i++)
        p.u[i] = (i * 7 + rank * 5) % 13;
    for (int k = 0; k < 8; k++) {
        exchange(&p);
        relax(&p);
        copy(&p);
    }
    for (int i = 0; i < (p.n + 2) * (p.m + 2); i++)
        sum = 0.5 * sum + p.u[i];
    printf("%d %.17g\n", rank, sum);
    free(p.u);
    free(p.v);
    MPI_Finalize();
    return 0;
}
