#define _GNU_SOURCE
#include "job/sparse.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "job/barrier.h"

enum { BLOCKS_UNDER_WAY = 8 };

/* How often to look in vain before sleeping, for how long. Simulated ranks share one core anyway.
 */
#ifdef IMBREX_SIMULATED
enum { MOST_FRUITLESS = INT_MAX, PAUSE_NS = 0 };
#else
enum { MOST_FRUITLESS = 64, PAUSE_NS = 20000 };
#endif

struct ix_sparse {
    MPI_Comm all;
    int rank;
    MPI_Request requests[BLOCKS_UNDER_WAY];
    char *blocks; /* those under way, and one to receive */
};

static char *block_of(const ix_sparse *s, int i)
{
    return s->blocks + (size_t)i * IX_BLOCK_BYTES;
}

ix_sparse *ix_sparse_start(MPI_Comm all)
{
    ix_sparse *s = calloc(1, sizeof *s);
    int fine = 0, everybody = 0;
    if (s) {
        s->all = all;
        PMPI_Comm_rank(all, &s->rank);
        for (int i = 0; i < BLOCKS_UNDER_WAY; i++)
            s->requests[i] = MPI_REQUEST_NULL;
        s->blocks = malloc((BLOCKS_UNDER_WAY + (size_t)1) * IX_BLOCK_BYTES);
        fine = s->blocks != NULL;
    }
    PMPI_Allreduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, all);
    if (everybody)
        return s;
    ix_sparse_end(s);
    return NULL;
}

void ix_sparse_end(ix_sparse *s)
{
    if (s)
        free(s->blocks);
    free(s);
}

/* Keep sends under way while `next` has some. 1 while anything is under way or to come. */
static int send_more(ix_sparse *s, int tag, ix_next_block *next, ix_hear_block *hear, void *context,
                     int *left, int *bad)
{
    int busy = 0;
    for (int i = 0; i < BLOCKS_UNDER_WAY; i++) {
        int done = 1, rank = 0;
        if (s->requests[i] != MPI_REQUEST_NULL &&
            PMPI_Test(&s->requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            *bad = done = 1;
        if (done && *left) {
            size_t bytes = next(context, &rank, block_of(s, i));
            *left = bytes != 0;
            if (bytes && rank == s->rank)
                hear(context, rank, block_of(s, i), bytes);
            else if (bytes)
                *bad |= PMPI_Issend(block_of(s, i), (int)bytes, MPI_BYTE, rank, tag, s->all,
                                    &s->requests[i]) != MPI_SUCCESS;
        }
        busy |= *left || s->requests[i] != MPI_REQUEST_NULL;
    }
    return busy;
}

/* 1 if a block came. */
static int hear_one(ix_sparse *s, int tag, ix_hear_block *hear, void *context, int *bad)
{
    int there = 0, bytes = 0;
    MPI_Status status;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, tag, s->all, &there, &status) != MPI_SUCCESS) {
        *bad = 1;
        return 0;
    }
    if (!there)
        return 0;
    char *block = block_of(s, BLOCKS_UNDER_WAY);
    int source = status.MPI_SOURCE;
    if (PMPI_Recv(block, IX_BLOCK_BYTES, MPI_BYTE, source, tag, s->all, &status) != MPI_SUCCESS ||
        PMPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS) {
        *bad = 1;
        return 0;
    }
    hear(context, source, block, (size_t)bytes);
    return 1;
}

/* Ranks may be more than cores: those that have something to do come first. */
static void wait_a_little(int fruitless)
{
    if (fruitless > MOST_FRUITLESS)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    else
        sched_yield();
}

/* A synchronous send completes when it is received: a rank all of whose sends have completed enters
 * the barrier, and when all have entered it nothing is under way. */
int ix_sparse_exchange(ix_sparse *s, int tag, ix_next_block *next, ix_hear_block *hear,
                       void *context)
{
    int left = 1, bad = 0, over = 0, entered = 0, fruitless = 0;
    ix_barrier barrier;
    while (!over && !bad) {
        fruitless = hear_one(s, tag, hear, context, &bad) ? 0 : fruitless + 1;
        if (fruitless)
            wait_a_little(fruitless);
        if (entered)
            bad |= ix_barrier_test(&barrier, &over) != 0;
        else if (!send_more(s, tag, next, hear, context, &left, &bad))
            bad |= ix_barrier_enter(&barrier, s->all) != 0, entered = 1;
    }
    return bad ? -1 : 0;
}
