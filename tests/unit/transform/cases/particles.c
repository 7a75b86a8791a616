/* Particles move to the rank that has their part of the line, each time by a communicator that is
   there as long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 50

typedef struct { double x, v, m; } particle;

typedef struct {
    int *sent, *at, *came, *from;
    int count, cells[CELLS];
    particle *own, *out, *in;
} box;

/* Step all particles, and send them to their owners. */
static void move(box *b, int size, MPI_Comm line, MPI_Datatype type)
{
    int *sent = b->sent, *at = b->at, *came = b->came, *from = b->from;
    particle *own = b->own, *out = b->out, *in = b->in;
    for (int p = 0; p < size; p++)
        sent[p] = 0;
    for (int i = 0; i < b->count; i++) {
        own[i].x += own[i].v;
        if (own[i].x >= 1.0)
            own[i].x -= 1.0;
        sent[(int)(own[i].x * size)]++;
    }
    MPI_Alltoall(sent, 1, MPI_INT, came, 1, MPI_INT, line);
    at[0] = from[0] = 0;
    for (int p = 1; p < size; p++) {
        at[p] = at[p - 1] + sent[p - 1];
        from[p] = from[p - 1] + came[p - 1];
    }
    for (int i = 0; i < b->count; i++)
        out[at[(int)(own[i].x * size)]++] = own[i];
    for (int p = 0; p < size; p++)
        at[p] -= sent[p];
    int n = from[size - 1] + came[size - 1];
    MPI_Alltoallv(out, sent, at, type, in, came, from, type, line);
    for (int c = 0; c < CELLS; c++)
        b->cells[c] = 0;
    for (int i = 0; i < n; i++) {
        own[i] = in[i];
        b->cells[(int)(in[i].x * CELLS)]++;
    }
    b->count = n;
}

int main(int argc, char **argv)
{
    int rank, size, dims[1] = {0}, periods[1] = {1};
    double sum = 0, all;
    box b;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    b.sent = calloc((size_t)size, sizeof(int));
    b.at = calloc((size_t)size, sizeof(int));
    b.came = calloc((size_t)size, sizeof(int));
    b.from = calloc((size_t)size, sizeof(int));
    b.own = malloc(1000 * (size_t)size * sizeof(particle));
    b.out = malloc(1000 * (size_t)size * sizeof(particle));
    b.in = malloc(1000 * (size_t)size * sizeof(particle));
    b.count = 700 + rank;
    for (int i = 0; i < b.count; i++) {
        b.own[i].x = (i * 31 + rank * 17) % 1000 / 1000.0;
        b.own[i].v = 0.001 * (i % 13);
        b.own[i].m = 1 + i % 3;
    }
    for (int turn = 0; turn < 2; turn++) {
        MPI_Comm line;
        MPI_Dims_create(size, 1, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
        for (int step = 0; step < 4; step++)
            move(&b, size, line, type);
        MPI_Comm_free(&line);
    }
    for (int i = 0; i < b.count; i++)
        sum += b.own[i].x * b.own[i].m;
    for (int c = 0; c < CELLS; c++)
        sum += c * b.cells[c];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12e\n", all);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
