/* What programs for a progress thread share: large messages, a look into the memory where their
 * data come without a call of MPI, and what is told of it. */
#ifndef HELPED_H
#define HELPED_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORDS = 1 << 20 };

static int rank, peer;
static int *out, *in;

static int peers_process;

/* Before the first message: who the peer is, on this host. */
static void meet(MPI_Comm comm)
{
    int mine = getpid();
    MPI_Sendrecv(&mine, 1, MPI_INT, peer, 0, &peers_process, 1, MPI_INT, peer, 0, comm,
                 MPI_STATUS_IGNORE);
}

/* After the last call before the end of MPI: return when the peer is here too, without a message.
 * MPICH 4.0 over TCP ends by a message to the peer that the peer's library has to answer, and then
 * waits where it answers none. A rank that is still in its last call when it answers would be too
 * late with its own, and wait for ever. Each rank says that it is here with the name of its thread,
 * which its peer reads. */
static void part(void)
{
    const char *here = "out-of-mpi\n";
    char file[64], name[32];
    prctl(PR_SET_NAME, "out-of-mpi");
    snprintf(file, sizeof file, "/proc/%d/comm", peers_process);
    for (int i = 0; i < 20000; i++, usleep(1000)) {
        FILE *its = fopen(file, "r");
        if (!its)
            return;
        int is_here = fgets(name, sizeof name, its) && !strcmp(name, here);
        fclose(its);
        if (is_here)
            return;
    }
}

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
