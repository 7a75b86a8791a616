/* Ghost values of an unstructured mesh: a loop over the neighbours starts a message for each that is
 * there and counts the requests, another packs and sends; all are waited for and unpacked. The
 * count goes from the start to the finish, as does the time at which the exchange began. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

struct halo {
    int neighbours, rank[MOST], count[MOST], *list[MOST], first[MOST];
    double *out[MOST], *in[MOST], seconds;
};

struct mesh {
    int own, edges, *from, *to;
    double *x, *y, *flux;
};

static void exchange(struct halo *h, double *x)
{
    MPI_Request requests[2 * MOST];
    double began = MPI_Wtime();
    int n = 0;
    for (int i = 0; i < h->neighbours; i++)
        if (h->rank[i] != MPI_PROC_NULL)
            MPI_Irecv(h->in[i], h->count[i], MPI_DOUBLE, h->rank[i], 5, MPI_COMM_WORLD,
                      &requests[n++]);
    for (int i = 0; i < h->neighbours; i++) {
        if (h->rank[i] == MPI_PROC_NULL)
            continue;
        for (int k = 0; k < h->count[i]; k++)
            h->out[i][k] = x[h->list[i][k]];
        MPI_Isend(h->out[i], h->count[i], MPI_DOUBLE, h->rank[i], 5, MPI_COMM_WORLD,
                  &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < h->neighbours; i++) {
        if (h->rank[i] == MPI_PROC_NULL)
            continue;
        for (int k = 0; k < h->count[i]; k++)
            x[h->first[i] + k] = h->in[i][k];
        h->seconds += (MPI_Wtime() - began) / n;
    }
}

static void sources(struct mesh *m, double t)
{
    for (int i = 0; i < m->own; i++)
        m->y[i] = t * 0.01 * i;
}

static void update(struct mesh *m)
{
    for (int e = 0; e < m->edges; e++)
        m->flux[e] = 0.3 * (m->x[m->from[e]] - m->x[m->to[e]]);
    for (int e = 0; e < m->edges; e++) {
        if (m->from[e] < m->own)
            m->y[m->from[e]] -= m->flux[e];
        if (m->to[e] < m->own)
            m->y[m->to[e]] += m->flux[e];
    }
    for (int i = 0; i < m->own; i++)
        m->x[i] += m->y[i];
}

int main(int argc, char **argv)
{
    struct mesh m;
    struct halo h;
    int rank, size;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    m.own = 500;
    m.edges = 0;
    m.x = calloc(m.own + 2, sizeof(double));
    m.y = calloc(m.own, sizeof(double));
    m.flux = malloc((m.own + 2) * sizeof(double));
    m.from = malloc((m.own + 2) * sizeof(int));
    m.to = malloc((m.own + 2) * sizeof(int));
    h.seconds = 0.0;
    h.neighbours = 2;
    for (int i = 0; i + 1 < m.own; i++) {
        m.from[m.edges] = i;
        m.to[m.edges++] = i + 1;
    }
    for (int i = 0; i < 2; i++) {
        int other = i ? rank + 1 : rank - 1;
        h.rank[i] = other < 0 || other >= size ? MPI_PROC_NULL : other;
        h.count[i] = 1;
        h.list[i] = malloc(sizeof(int));
        h.list[i][0] = i ? m.own - 1 : 0;
        h.first[i] = m.own + i;
        h.out[i] = malloc(sizeof(double));
        h.in[i] = malloc(sizeof(double));
        if (h.rank[i] != MPI_PROC_NULL) {
            m.from[m.edges] = h.list[i][0];
            m.to[m.edges++] = m.own + i;
        }
    }
    for (int i = 0; i < m.own; i++)
        m.x[i] = i * (rank + 1) % 17;
    for (int t = 0; t < 20; t++) {
        exchange(&h, m.x);
        sources(&m, t);
        update(&m);
    }
    for (int i = 0; i < m.own; i++)
        sum += m.x[i] * i;
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
