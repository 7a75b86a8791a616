/* Requests of the whole program, and faces that are unpacked in the order in which they come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define NX 24
#define NY 20
enum { LOW, HIGH, FACES };
static MPI_Request requests[2 * FACES];
static double u[NX + 2][NY + 2], v[NX + 2][NY + 2];
static double sent[FACES][NY + 2], received[FACES][NY + 2];
static int peer[FACES], rank, size;

static void unpack(int face)
{
    int j;
    if (face == LOW) {
        for (j = 0; j < NY + 2; j++)
            u[0][j] = received[LOW][j];
    } else {
        for (j = 0; j < NY + 2; j++)
            u[NX + 1][j] = received[HIGH][j];
    }
}

static void exchange(void)
{
    int face, j, n, which, receives = 0, sends = 0;
    for (face = 0; face < FACES; face++) {
        if (peer[face] == MPI_PROC_NULL)
            continue;
        MPI_Irecv(received[face], NY + 2, MPI_DOUBLE, peer[face], 1 - face, MPI_COMM_WORLD,
                  &requests[face]);
        receives++;
    }
    for (face = 0; face < FACES; face++) {
        if (peer[face] == MPI_PROC_NULL)
            continue;
        for (j = 0; j < NY + 2; j++)
            sent[face][j] = u[face == LOW ? 1 : NX][j];
        MPI_Isend(sent[face], NY + 2, MPI_DOUBLE, peer[face], face, MPI_COMM_WORLD,
                  &requests[FACES + face]);
        sends++;
    }
    for (n = 0; n < receives; n++) {
        MPI_Waitany(FACES, requests, &which, MPI_STATUS_IGNORE);
        unpack(which);
    }
    for (n = 0; n < sends; n++)
        MPI_Waitany(FACES, requests + FACES, &which, MPI_STATUS_IGNORE);
}

static void step(void)
{
    int i, j;
    for (i = 1; i <= NX; i++)
        for (j = 1; j <= NY; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void copy(void)
{
    int i, j;
    for (i = 1; i <= NX; i++)
        for (j = 1; j <= NY; j++)
            u[i][j] = v[i][j];
}

int main(int argc, char **argv)
{
    int i, j, k;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer[LOW] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    peer[HIGH] = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (i = 0; i < 2 * FACES; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (i = 0; i < NX + 2; i++)
        for (j = 0; j < NY + 2; j++)
            u[i][j] = (i * 7 + j * 3 + rank * 5) % 13;
    for (k = 0; k < 8; k++) {
        exchange();
        step();
        copy();
    }
    for (i = 0; i < NX + 2; i++)
        for (j = 0; j < NY + 2; j++)
            sum = 0.5 * sum + u[i][j];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
