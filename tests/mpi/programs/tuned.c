/* A blocking exchange in front of work that does not need it: what `imbrex tune` rewrites.
 *   tuned BYTES STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS 200000

static double field[POINTS], sums[POINTS];

static double step(double *out, double *in, int count, int peer)
{
    MPI_Sendrecv(out, count, MPI_DOUBLE, peer, 0, in, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < POINTS; i++)
            sums[i] = 0.5 * sums[i] + field[i];
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += in[i];
    return sum + sums[0];
}

int main(int argc, char **argv)
{
    int rank, count = atoi(argv[1]) / 8, steps = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = calloc(count, sizeof *out), *in = calloc(count, sizeof *in), sum = 0;
    for (int i = 0; i < count; i++)
        out[i] = i % 7;
    for (int i = 0; i < POINTS; i++)
        field[i] = i % 5;
    for (int s = 0; s < steps; s++)
        sum += step(out, in, count, 1 - rank);
    printf("rank %d sum %.3f\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
