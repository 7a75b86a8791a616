/* Waves in one dimension: the momentum has neighbours only where the ends are joined, and no
 * process has any where it is alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rank, size, left, right;
} ranks;

typedef struct {
    int n, joined;
    double *rho, *mom, *flux;
} state;

static void exchange(double *q, int n, const ranks *p)
{
    if (p->size > 1) {
        MPI_Sendrecv(&q[2], 2, MPI_DOUBLE, p->left, 10, &q[n + 2], 2, MPI_DOUBLE, p->right, 10,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&q[n], 2, MPI_DOUBLE, p->right, 11, &q[0], 2, MPI_DOUBLE, p->left, 11,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void fill_ghosts(state *s, const ranks *p)
{
    exchange(s->rho, s->n, p);
    if (s->joined)
        exchange(s->mom, s->n, p);
}

static void compute_flux(state *s)
{
    for (int i = 2; i <= s->n + 2; i++)
        s->flux[i] = 0.5 * (s->rho[i - 1] + s->rho[i]) + 0.25 * (s->mom[i - 2] + s->mom[i + 1]);
}

static void update(state *s)
{
    for (int i = 2; i < s->n + 2; i++)
        s->rho[i] -= 0.125 * (s->flux[i + 1] - s->flux[i]);
}

int main(int argc, char **argv)
{
    ranks p;
    state s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.size);
    p.left = (p.rank + p.size - 1) % p.size;
    p.right = (p.rank + 1) % p.size;
    s.n = 64;
    s.joined = argc < 2;
    s.rho = calloc(s.n + 4, sizeof(double));
    s.mom = calloc(s.n + 4, sizeof(double));
    s.flux = calloc(s.n + 4, sizeof(double));
    for (int i = 0; i < s.n + 4; i++) {
        s.rho[i] = 1 + (i * 7 + p.rank) % 4;
        s.mom[i] = 1 + (i * 3 + p.rank) % 4;
    }
    for (int step = 0; step < 20; step++) {
        fill_ghosts(&s, &p);
        compute_flux(&s);
        update(&s);
    }
    double sum = 0.0;
    for (int i = 2; i < s.n + 2; i++)
        sum += s.rho[i];
    printf("%d: %.17g\n", p.rank, sum);
    free(s.rho);
    free(s.mom);
    free(s.flux);
    MPI_Finalize();
    return 0;
}
