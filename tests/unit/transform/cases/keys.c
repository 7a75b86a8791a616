/* Keys travel while the ranks sum up what they know of them: the loops share their indices, and the
 * one that clears what was sent comes last. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 4096
#define MOST 8

typedef struct {
    int *mine, *sorted, *theirs, *totals;
    int send_count[MOST], send_displ[MOST], recv_count[MOST], recv_displ[MOST];
    int rank, size;
} Work;

static long rank_keys(Work *w, int round)
{
    int i, j, k, m, share = KEYS / w->size;
    for (i = 0; i < KEYS; i++) {
        w->mine[i] = (i * 7 + w->rank + round) % 64;
        w->totals[i % 64] += w->mine[i];
    }
    for (i = 0; i < KEYS; i++)
        w->sorted[i] = w->mine[KEYS - 1 - i];
    for (i = 0; i < w->size; i++) {
        w->send_count[i] = w->recv_count[i] = share;
        w->send_displ[i] = w->recv_displ[i] = i * share;
    }
    MPI_Alltoallv(w->sorted, w->send_count, w->send_displ, MPI_INT, w->theirs, w->recv_count,
                  w->recv_displ, MPI_INT, MPI_COMM_WORLD);
    /* The work array for the next round. */
    for (i = 0; i < KEYS; i++)
        w->sorted[i] = 0;
    /* All lesser keys. */
    m = 0;
    for (k = 0; k < w->rank; k++)
        for (i = 0; i < 64; i++)
            m += w->totals[i] % 5;
    j = round;
    for (i = 0; i < 64; i++)
        j += w->totals[i] % 3;
    for (i = 0; i < share * w->size; i++)
        w->sorted[w->theirs[i]]++;
    for (i = 1; i < 64; i++)
        w->sorted[i] += w->sorted[i - 1];
    return w->sorted[63] + 10L * m + j;
}

int main(int argc, char **argv)
{
    Work *w = malloc(sizeof(Work));
    long sum = 0;
    int i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w->size);
    w->mine = (int *)malloc(KEYS * sizeof(int));
    w->sorted = (int *)malloc(KEYS * sizeof(int));
    w->theirs = (int *)malloc(KEYS * sizeof(int));
    w->totals = (int *)malloc(64 * sizeof(int));
    for (i = 0; i < 64; i++)
        w->totals[i] = 0;
    for (i = 0; i < 3; i++)
        sum += rank_keys(w, i);
    printf("%d %ld\n", w->rank, sum);
    MPI_Finalize();
    free(w);
    return 0;
}
