/* Communication in layers: a function that wraps MPI, one that exchanges both ends of a field by
 * it, and one that exchanges the fields of the model. The size is known at run time alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct ranks {
    int left, right, rank;
    MPI_Comm comm;
};
struct fields {
    double *u, *v, *w;
    int n;
};

static void send_and_receive(struct ranks *r, double *sent, double *received, int count, int to,
                             int from, int tag)
{
    MPI_Request requests[2];
    MPI_Irecv(received, count, MPI_DOUBLE, from, tag, r->comm, &requests[0]);
    MPI_Isend(sent, count, MPI_DOUBLE, to, tag, r->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void ends(struct ranks *r, double *a, int n)
{
    send_and_receive(r, &a[n], &a[0], 1, r->right, r->left, 1);
    send_and_receive(r, &a[1], &a[n + 1], 1, r->left, r->right, 2);
}

static void update(struct ranks *r, struct fields *f)
{
    ends(r, f->u, f->n);
    ends(r, f->v, f->n);
}

static void step(struct fields *f)
{
    for (int i = 1; i <= f->n; i++)
        f->w[i] = 0.25 * (f->u[i - 1] + f->u[i + 1]) + 0.2 * (f->v[i - 1] + f->v[i + 1]);
    for (int i = 1; i <= f->n; i++) {
        f->v[i] = 0.5 * f->v[i] + 0.5 * f->w[i];
        f->u[i] = f->w[i];
    }
}

int main(int argc, char **argv)
{
    struct ranks r;
    struct fields f;
    int size;
    MPI_Init(&argc, &argv);
    r.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(r.comm, &r.rank);
    MPI_Comm_size(r.comm, &size);
    r.left = (r.rank + size - 1) % size;
    r.right = (r.rank + 1) % size;
    f.n = argc > 1 ? atoi(argv[1]) : 300;
    f.u = calloc(f.n + 2, sizeof(double));
    f.v = calloc(f.n + 2, sizeof(double));
    f.w = calloc(f.n + 2, sizeof(double));
    for (int i = 0; i < f.n + 2; i++) {
        f.u[i] = r.rank + 0.01 * i;
        f.v[i] = 1.0 / (i + 1);
    }
    for (int it = 0; it < 20; it++) {
        update(&r, &f);
        step(&f);
    }
    double sum = 0.0;
    for (int i = 1; i <= f.n; i++)
        sum += f.u[i] * (i % 7) + f.v[i];
    printf("%d: %.12f\n", r.rank, sum);
    free(f.u);
    free(f.v);
    free(f.w);
    MPI_Finalize();
    return 0;
}
