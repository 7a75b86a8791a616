/* Keys travel to the rank that counts them; in every other step their pieces have gaps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 3000
#define VALUES 128

static int keys[KEYS], count[VALUES];

/* The key number `i` of a rank in a step. */
static int key_of(int rank, int step, int i)
{
    return (i * 37 + rank * 11 + step * step) % VALUES;
}

/* Sort the keys by owner, send them there, count what comes. */
static long count_keys(int rank, int size, int step, int *mine)
{
    int *sent = calloc(4 * (size_t)size, sizeof(int)), *at = sent + size;
    int *came = at + size, *from = came + size;
    int gap = step % 2, n = 0;
    long check = 0;
    for (int i = 0; i < KEYS; i++)
        sent[key_of(rank, step, i) % size]++;
    MPI_Alltoall(sent, 1, MPI_INT, came, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0, next = 0; p < size; p++) {
        at[p] = next;
        next += sent[p];
    }
    for (int p = 0; p < size; p++) {
        from[p] = n;
        n += came[p] + gap;
        if (gap)
            mine[n - 1] = p % VALUES;
    }
    for (int i = 0; i < KEYS; i++) {
        int key = key_of(rank, step, i);
        keys[at[key % size]++] = key;
    }
    for (int p = 0; p < size; p++)
        at[p] -= sent[p];
    MPI_Alltoallv(keys, sent, at, MPI_INT, mine, came, from, MPI_INT, MPI_COMM_WORLD);
    for (int v = 0; v < VALUES; v++)
        count[v] = 0;
    for (int i = 0; i < n; i++)
        count[mine[i]]++;
    for (int v = 0; v < VALUES; v++)
        check += (long)(v + 1) * count[v];
    free(sent);
    return check + mine[n / 2];
}

int main(int argc, char **argv)
{
    int rank, size;
    long check = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *mine = malloc(sizeof(int) * (KEYS + 1) * (size_t)size);
    for (int step = 0; step < 6; step++)
        check = 31 * check % 1000003 + count_keys(rank, size, step, mine);
    MPI_Reduce(&check, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", all);
    free(mine);
    MPI_Finalize();
    return 0;
}
