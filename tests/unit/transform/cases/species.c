/* Species in arrays of pointers: what a step computes changes places with what it was made of, and
 * a field in two copies of which one is the present. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SPECIES 3

static int rank, size, n = 2000;
static double *now[SPECIES], *next[SPECIES], *field[2];

static void exchange(double *f, int left, int right)
{
    MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, left, 1, &f[n + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&f[n], 1, MPI_DOUBLE, right, 2, &f[0], 1, MPI_DOUBLE, left, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double sum = 0;
    int present = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int s = 0; s < SPECIES; s++) {
        now[s] = calloc(n + 2, sizeof(double));
        next[s] = calloc(n + 2, sizeof(double));
        for (int i = 1; i <= n; i++)
            now[s][i] = (i * 7 + rank + s) % 11;
    }
    field[0] = calloc(n + 2, sizeof(double));
    field[1] = calloc(n + 2, sizeof(double));
    for (int i = 1; i <= n; i++)
        field[0][i] = (i * 5 + rank) % 13;
    for (int t = 0; t < 40; t++) {
        for (int s = 0; s < SPECIES; s++) {
            exchange(now[s], left, right);
            for (int i = 1; i <= n; i++)
                next[s][i] = now[s][i] + 0.1 * (now[s][i - 1] - 2 * now[s][i] + now[s][i + 1]);
            double *old = now[s];
            now[s] = next[s];
            next[s] = old;
        }
        exchange(field[present], left, right);
        for (int i = 1; i <= n; i++)
            field[1 - present][i] = 0.5 * (field[present][i - 1] + field[present][i + 1]);
        present = 1 - present;
    }
    for (int s = 0; s < SPECIES; s++)
        for (int i = 1; i <= n; i++)
            sum += i * now[s][i];
    for (int i = 1; i <= n; i++)
        sum += i * field[present][i];
    printf("rank %d: %.15g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
