/* What programs for a progress thread share: large messages, a look into the memory where their data
 * come without a call of MPI, and what is told of it. */
#ifndef HELPED_H
#define HELPED_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 20 };

static int rank, peer;
static int *out, *in;

static double patience(void)
{
    const char *text = getenv("HELPED_WAIT_S");
    return text ? atof(text) : 20;
}

/* Wait for the last word of each block without a call of MPI but for the clock. */
static int came(const int *const *last, const int *expected, int blocks)
{
    double give_up = MPI_Wtime() + patience();
    for (int i = 0; i < blocks; i++)
        while (__atomic_load_n(last[i], __ATOMIC_ACQUIRE) != expected[i])
            if (MPI_Wtime() > give_up)
                return 0;
    return 1;
}

static void fill(void)
{
    for (int i = 0; i < WORDS; i++) {
        out[i] = (rank + 1) * 1000003 + i;
        in[i] = -1;
    }
}

static void check(int right)
{
    int all = 0;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "right" : "wrong");
}

static int is_peers(void)
{
    int right = 1;
    for (int i = 0; i < WORDS; i++)
        right &= in[i] == (peer + 1) * 1000003 + i;
    return right;
}

static void tell(int moved)
{
    int all = 0;
    MPI_Allreduce(&moved, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "moved" : "not moved");
}

#endif
