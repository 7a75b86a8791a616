// A heated rod: a function relaxes what is stored beside it, and an object of a class scales it.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

struct Sample {
    double seen, weight;
};

struct Damp {
    double factor, shift;
    double operator()(double x) const { return factor * x + shift; }
};

static double relaxed(double store, double heat) { return 0.75 * store + 0.25 * heat; }

static void age(Sample &each) { each.weight *= 0.5; }

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int cells = 240;
    const int below = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int above = rank + 1 == size ? MPI_PROC_NULL : rank + 1;
    std::vector<double> rod(cells + 2), made(cells + 2), store(cells + 2), heat(cells + 2, 1.0);
    std::vector<Sample> samples(60, Sample{0.0, 1.0});
    for (int k = 1; k <= cells; k++)
        rod[k] = (rank * 17 + k) % 32;
    for (int step = 0; step < 10; step++) {
        MPI_Request open[4];
        MPI_Irecv(&rod[0], 1, MPI_DOUBLE, below, 5, MPI_COMM_WORLD, &open[0]);
        MPI_Irecv(&rod[cells + 1], 1, MPI_DOUBLE, above, 6, MPI_COMM_WORLD, &open[1]);
        MPI_Isend(&rod[1], 1, MPI_DOUBLE, below, 6, MPI_COMM_WORLD, &open[2]);
        MPI_Isend(&rod[cells], 1, MPI_DOUBLE, above, 5, MPI_COMM_WORLD, &open[3]);
        MPI_Waitall(4, open, MPI_STATUSES_IGNORE);
        std::transform(store.begin(), store.end(), heat.begin(), store.begin(), relaxed);
        std::transform(heat.begin(), heat.end(), heat.begin(), Damp{0.5, 1.0});
        std::for_each(samples.begin(), samples.end(), age);
        for (int k = 1; k <= cells; k++)
            made[k] = 0.5 * rod[k] + 0.25 * (rod[k - 1] + rod[k + 1]) + store[k];
        rod.swap(made);
    }
    double sum = samples[7].weight;
    for (int k = 1; k <= cells; k++)
        sum += rod[k] + heat[k];
    std::printf("rank %d: %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
