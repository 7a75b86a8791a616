/* Two time levels whose pointers have file scope: one routine allocates them, one exchanges ghosts
 * and computes, one lets the levels change places. They never are one array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *now, *next;
static int n, left, right;

static void allocate(int rank)
{
    now = malloc((n + 2) * sizeof(double));
    next = malloc((n + 2) * sizeof(double));
    for (int i = 0; i <= n + 1; i++)
        now[i] = next[i] = rank + 0.001 * i;
}

static void step(void)
{
    MPI_Sendrecv(&now[n], 1, MPI_DOUBLE, right, 0, &now[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 1, &now[n + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++)
        next[i] = 0.25 * (now[i - 1] + now[i + 1]) + 0.5 * now[i] * now[i] / (1.0 + now[i]);
}

static void advance(void)
{
    double *last = now;
    now = next;
    next = last;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 4000;
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    allocate(rank);
    for (int t = 0; t < 30; t++) {
        step();
        advance();
    }
    for (int i = 1; i <= n; i++)
        sum += now[i] * i;
    printf("%d %.17g\n", rank, sum);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
