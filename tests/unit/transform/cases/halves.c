/* An exchange split by hand; its requests are in a structure. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 1000
typedef struct {
    int n, peer;
    double *sbuf, *rbuf;
    MPI_Request *req;
} Halo;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void halo_begin(Halo *h, double *u)
{
    for (int i = 0; i < h->n; i++)
        h->sbuf[i] = u[i];
    MPI_Irecv(h->rbuf, h->n, MPI_DOUBLE, h->peer, 0, MPI_COMM_WORLD, &h->req[0]);
    MPI_Isend(h->sbuf, h->n, MPI_DOUBLE, h->peer, 0, MPI_COMM_WORLD, &h->req[1]);
}
static void halo_end(Halo *h, double *u)
{
    MPI_Waitall(2, h->req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < h->n; i++)
        u[N - 1 - i] = h->rbuf[i];
}
int main(int argc, char **argv)
{
    static double u[N], v[N], w[N];
    int rank;
    Halo h;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = v[i] = w[i] = i + rank;
    h.n = 10;
    h.peer = 1 - rank;
    h.sbuf = malloc(10 * sizeof(double));
    h.rbuf = malloc(10 * sizeof(double));
    h.req = malloc(2 * sizeof(MPI_Request));
    for (int step = 0; step < 5; step++) {
        work(v);
        halo_begin(&h, u);
        halo_end(&h, u);
        work(w);
        work(u);
    }
    printf("%g %g %g\n", u[3], v[3], w[4]);
    free(h.req);
    MPI_Finalize();
    return 0;
}
