/* Compares clocks that the runtime has brought together with the counter that they all read.
 *
 * Each rank reads the counter and its own clock at one moment, also while "computing", and rank 0
 * tells what its clock showed then. Prints a line a rank: rank, number of clocks, error bound of
 * its own and the largest difference from rank 0's clock, in ns, what it cost, violations: messages
 * that came before they were sent, by the common times and the bounds of both. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/clocks.h"

#ifndef SAMPLES
#define SAMPLES 50
#endif

/* What every rank can read: the counter, or the simulator's time. */
#ifdef IMBREX_SIMULATED
extern double simgrid_get_clock(void);

static int64_t simulated_ns(void)
{
    return (int64_t)(simgrid_get_clock() * 1e9 + 0.5);
}
#define CLOCK simulated_ns
#define COUNTER() ((uint64_t)simulated_ns())
#else
#define CLOCK NULL
#define COUNTER() ix_ticks()
#endif

typedef struct sample {
    uint64_t ticks;
    int64_t local_ns;
} sample;

static sample take(void)
{
    sample best = {0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t before = COUNTER();
        int64_t now_ns = ix_now();
        uint64_t after = COUNTER();
        if (after - before < shortest) {
            shortest = after - before;
            best = (sample){before + (after - before) / 2, now_ns};
        }
    }
    return best;
}

/* What rank 0's clock shows when the counter stands at `ticks`: through its first and last
 * sample. */
static double reference_ns(const sample *root, uint64_t ticks)
{
    double rate = (double)(root[1].local_ns - root[0].local_ns) /
                  (double)(root[1].ticks - root[0].ticks);
    return (double)root[0].local_ns + rate * (double)(int64_t)(ticks - root[0].ticks);
}

int main(int argc, char **argv)
{
    int pause_ms = argc > 1 ? atoi(argv[1]) : 100, rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ix_clocks_begin(MPI_COMM_WORLD, CLOCK);
    static sample samples[SAMPLES];
    static int64_t sent_ns[SAMPLES], came_ns[SAMPLES];
    sample root[2] = {take(), {0}};
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < SAMPLES; i++) {
        usleep((unsigned)pause_ms * 1000 / SAMPLES);
        samples[i] = take();
        sent_ns[i] = ix_now();
        MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &(int){0}, 1, MPI_INT, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        came_ns[i] = ix_now();
    }
    ix_clocks_end(MPI_COMM_WORLD);
    root[1] = take();
    MPI_Bcast(root, sizeof root, MPI_BYTE, 0, MPI_COMM_WORLD);

    double largest = 0;
    int64_t theirs_ns[SAMPLES];
    int violations = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double off = (double)ix_common_ns(samples[i].local_ns) - reference_ns(root, samples[i].ticks);
        largest = off > largest ? off : -off > largest ? -off : largest;
        sent_ns[i] = ix_common_ns(sent_ns[i]);
    }
    MPI_Sendrecv(sent_ns, SAMPLES, MPI_INT64_T, next, 1, theirs_ns, SAMPLES, MPI_INT64_T, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < SAMPLES; i++)
        violations += ix_common_ns(came_ns[i]) + ix_clock_error_ns(before) < theirs_ns[i];
    double mine[5] = {ix_clocks_count(), (double)ix_clock_error_ns(0), largest,
                      (double)ix_clocks_cost_ns() * 1e-3, violations};
    double *rows = malloc(sizeof mine * (size_t)ranks);
    MPI_Gather(mine, 5, MPI_DOUBLE, rows, 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; r++) {
        const double *row = rows + 5 * r;
        printf("%d %.0f %.0f %.0f %.1f %.0f\n", r, row[0], row[1], row[2], row[3], row[4]);
    }
    free(rows);
    ix_clocks_free();
    MPI_Finalize();
    return 0;
}
