#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A plate with one layer of ghosts; faces 0 and 1 are those of rows, 2 and 3 those of columns. */
struct plate {
    int n[2], peer[4];
    double *out[4], *in[4];
};

static double *array(int number)
{
    double *made = calloc((size_t)number, sizeof(double));
    if (!made)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return made;
}

static int at(const struct plate *p, int i, int j)
{
    return i * (p->n[1] + 2) + j;
}

/* The outermost row or column at a face, or the ghosts behind it. */
static void bounds(const struct plate *p, int face, int ghost, int first[2], int last[2])
{
    int axis = face / 2, along = 1 - axis;
    first[along] = 1;
    last[along] = p->n[along];
    first[axis] = last[axis] = face % 2 == 0 ? 1 - ghost : p->n[axis] + ghost;
}

static void pack(const struct plate *p, const double *u, int face)
{
    int first[2], last[2], number = 0;
    bounds(p, face, 0, first, last);
    for (int i = first[0]; i <= last[0]; i++)
        for (int j = first[1]; j <= last[1]; j++)
            p->out[face][number++] = u[at(p, i, j)];
}

static void unpack(const struct plate *p, double *u, int face)
{
    int first[2], last[2], number = 0;
    if (p->peer[face] == MPI_PROC_NULL)
        return;
    bounds(p, face, 1, first, last);
    for (int i = first[0]; i <= last[0]; i++)
        for (int j = first[1]; j <= last[1]; j++)
            u[at(p, i, j)] = p->in[face][number++];
}

/* Both faces of an axis go together; whether columns are apart depends on the number of them. */
static void exchange(const struct plate *p, double *u)
{
    for (int axis = 0; axis < 2; axis++) {
        int low = 2 * axis, high = low + 1, count = p->n[1 - axis];
        pack(p, u, low);
        MPI_Sendrecv(p->out[low], count, MPI_DOUBLE, p->peer[low], 0, p->in[high], count,
                     MPI_DOUBLE, p->peer[high], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack(p, u, high);
        pack(p, u, high);
        MPI_Sendrecv(p->out[high], count, MPI_DOUBLE, p->peer[high], 1, p->in[low], count,
                     MPI_DOUBLE, p->peer[low], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack(p, u, low);
    }
}

/* Rows alone need no guard. */
static void rows(const struct plate *p, double *u)
{
    pack(p, u, 0);
    MPI_Sendrecv(p->out[0], p->n[1], MPI_DOUBLE, p->peer[0], 2, p->in[1], p->n[1], MPI_DOUBLE,
                 p->peer[1], 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unpack(p, u, 1);
    pack(p, u, 1);
    MPI_Sendrecv(p->out[1], p->n[1], MPI_DOUBLE, p->peer[1], 3, p->in[0], p->n[1], MPI_DOUBLE,
                 p->peer[0], 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unpack(p, u, 0);
}

/* The row that came in goes on. */
static void pass_on(const struct plate *p, double *u)
{
    pack(p, u, 0);
    MPI_Sendrecv(p->out[0], p->n[1], MPI_DOUBLE, p->peer[0], 4, p->in[0], p->n[1], MPI_DOUBLE,
                 p->peer[1], 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 1; j <= p->n[1]; j++)
        u[at(p, 1, j)] += p->in[0][j - 1];
    pack(p, u, 0);
    MPI_Sendrecv(p->out[0], p->n[1], MPI_DOUBLE, p->peer[1], 5, p->in[1], p->n[1], MPI_DOUBLE,
                 p->peer[0], 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unpack(p, u, 1);
}

int main(int argc, char **argv)
{
    struct plate p = {{40, 60}, {0, 0, 0, 0}, {NULL}, {NULL}};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p.peer[0] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    p.peer[1] = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    p.peer[2] = (rank + size - 1) % size;
    p.peer[3] = (rank + 1) % size;
    for (int face = 0; face < 4; face++) {
        p.out[face] = array(p.n[1 - face / 2]);
        p.in[face] = array(p.n[1 - face / 2]);
    }
    double *u = array((p.n[0] + 2) * (p.n[1] + 2)), sum = 0.0;
    for (int i = 1; i <= p.n[0]; i++)
        for (int j = 1; j <= p.n[1]; j++)
            u[at(&p, i, j)] = i + 0.01 * j + 100 * rank;
    for (int step = 0; step < 3; step++) {
        exchange(&p, u);
        rows(&p, u);
        pass_on(&p, u);
        for (int i = 1; i <= p.n[0]; i++)
            for (int j = 1; j <= p.n[1]; j++)
                u[at(&p, i, j)] = 0.25 * (u[at(&p, i - 1, j)] + u[at(&p, i + 1, j)] +
                                          u[at(&p, i, j - 1)] + u[at(&p, i, j + 1)]);
    }
    for (int i = 0; i < (p.n[0] + 2) * (p.n[1] + 2); i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.17g\n", rank, sum);
    for (int face = 0; face < 4; face++) {
        free(p.out[face]);
        free(p.in[face]);
    }
    free(u);
    MPI_Finalize();
    return 0;
}
