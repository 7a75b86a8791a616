/* Declarations that do work: what packs tells how much it packed, and one reads what has come. */
#include <mpi.h>
#include <stdio.h>
#define N 48
enum { LOW, HIGH, FACES };
static double u[N + 2], v[N + 2], w[N + 2], sent[FACES][4], received[FACES][4];
static int peer[FACES], rank, size, packed, last;

static int pack(int face)
{
    static const int from[FACES] = {1, N - 3};
    for (int i = 0; i < 4; i++)
        sent[face][i] = u[from[face] + i];
    return 4;
}

static void pair(int face, int count)
{
    MPI_Sendrecv(sent[face], count, MPI_DOUBLE, peer[face], face, received[1 - face], 4, MPI_DOUBLE,
                 peer[1 - face], face, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    static const int ghost[FACES] = {0, N + 1};
    int low = pack(LOW);
    pair(LOW, low);
    int high = pack(HIGH);
    pair(HIGH, 4);
    double first = received[LOW][3], least = received[HIGH][0];
    last = (int)first;
    u[ghost[LOW]] = first;
    u[ghost[HIGH]] = least;
    packed += low;
}

static void relax(void)
{
    for (int i = 1; i <= N; i++)
        v[i] = 0.25 * (u[i - 1] + u[i + 1]) + 0.5 * u[i];
}

int main(int argc, char **argv)
{
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer[LOW] = (rank + size - 1) % size;
    peer[HIGH] = (rank + 1) % size;
    for (int i = 0; i < N + 2; i++)
        u[i] = (i * 7 + rank * 5) % 13 * 1024;
    for (int step = 0; step < 6; step++) {
        exchange();
        for (int i = 0; i < N; i++)
            w[i] = 0.5 * w[i] + i;
        relax();
        for (int i = 1; i <= N; i++)
            u[i] = v[i];
    }
    for (int i = 0; i < N + 2; i++)
        sum += u[i] + w[i];
    printf("packs: rank %d %.17g %d %d\n", rank, sum, packed, last);
    MPI_Finalize();
    return 0;
}
