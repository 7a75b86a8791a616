/* Faces that are packed, sent by a routine that is given two requests, and counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define NX 20
#define NY 16
enum { LEFT, RIGHT, FACES };
typedef struct {
    int neighbour[FACES];
    double *u, *v, *e;
    double *left_snd, *left_rcv, *right_snd, *right_rcv;
} Chunk;
static int rank, np;
#define AT(i, j) ((i) * (NY + 2) + (j))
static void pack_left(Chunk *c)
{
    for (int j = 0; j < NY + 2; j++)
        c->left_snd[j] = c->u[AT(1, j)];
}
static void pack_right(Chunk *c)
{
    for (int j = 0; j < NY + 2; j++)
        c->right_snd[j] = c->u[AT(NX, j)];
}
static void unpack_left(Chunk *c)
{
    for (int j = 0; j < NY + 2; j++)
        c->u[AT(0, j)] = c->left_rcv[j];
}
static void unpack_right(Chunk *c)
{
    for (int j = 0; j < NY + 2; j++)
        c->u[AT(NX + 1, j)] = c->right_rcv[j];
}
static void send_recv(double *snd, double *rcv, int n, int task, int tag_send, int tag_recv,
                      MPI_Request *req_send, MPI_Request *req_recv)
{
    MPI_Isend(snd, n, MPI_DOUBLE, task, tag_send, MPI_COMM_WORLD, req_send);
    MPI_Irecv(rcv, n, MPI_DOUBLE, task, tag_recv, MPI_COMM_WORLD, req_recv);
}
static void exchange(Chunk *c)
{
    MPI_Request request[4];
    MPI_Status status[4];
    int message_count = 0;
    if (c->neighbour[LEFT] >= 0) {
        pack_left(c);
        send_recv(c->left_snd, c->left_rcv, NY + 2, c->neighbour[LEFT], 1, 2,
                  &request[message_count], &request[message_count + 1]);
        message_count += 2;
    }
    if (c->neighbour[RIGHT] >= 0) {
        pack_right(c);
        send_recv(c->right_snd, c->right_rcv, NY + 2, c->neighbour[RIGHT], 2, 1,
                  &request[message_count], &request[message_count + 1]);
        message_count += 2;
    }
    MPI_Waitall(message_count, request, status);
    if (c->neighbour[LEFT] >= 0)
        unpack_left(c);
    if (c->neighbour[RIGHT] >= 0)
        unpack_right(c);
}
static void pdv(Chunk *c)
{
    for (int i = 0; i < (NX + 2) * (NY + 2); i++)
        c->e[i] = 0.9 * c->e[i] + 1;
}
static void advec(Chunk *c)
{
    for (int i = 1; i <= NX; i++)
        for (int j = 1; j <= NY; j++)
            c->v[AT(i, j)] =
                0.5 * c->u[AT(i, j)] + 0.25 * (c->u[AT(i - 1, j)] + c->u[AT(i + 1, j)]);
}
static void update(Chunk *c)
{
    for (int i = 1; i <= NX; i++)
        for (int j = 1; j <= NY; j++)
            c->u[AT(i, j)] = c->v[AT(i, j)];
}
static double *make(int n)
{
    return calloc(n, sizeof(double));
}
int main(int argc, char **argv)
{
    Chunk chunk;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    chunk.neighbour[LEFT] = rank > 0 ? rank - 1 : -1;
    chunk.neighbour[RIGHT] = rank < np - 1 ? rank + 1 : -1;
    chunk.u = make((NX + 2) * (NY + 2));
    chunk.v = make((NX + 2) * (NY + 2));
    chunk.e = make((NX + 2) * (NY + 2));
    chunk.left_snd = make(NY + 2);
    chunk.left_rcv = make(NY + 2);
    chunk.right_snd = make(NY + 2);
    chunk.right_rcv = make(NY + 2);
    for (int i = 0; i < (NX + 2) * (NY + 2); i++)
        chunk.u[i] = (i * 7 + rank * 3) % 11;
    for (int k = 0; k < 5; k++) {
        exchange(&chunk);
        pdv(&chunk);
        advec(&chunk);
        update(&chunk);
    }
    for (int i = 0; i < (NX + 2) * (NY + 2); i++)
        s += chunk.u[i] + chunk.e[i];
    printf("chunks: rank %d %.12g\n", rank, s);
    MPI_Finalize();
    return 0;
}
