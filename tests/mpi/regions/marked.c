/* Regions of known length: spinning for so many microseconds. Ranks 0 and 1 exchange. */
#include <imbrex/imbrex.h>
#include <mpi.h>

enum { N = 100, STEPS = 10 };
static double out[N], in[N];

static void spin(double us)
{
    double end = MPI_Wtime() + us * 1e-6;
    while (MPI_Wtime() < end)
        ;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        MPI_Request q[2];
        imbrex_produce_begin("edge");
        spin(2000);
        out[0] = step;
        imbrex_produce_end("edge", &out[7], N / 2);
        spin(1000);
        MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        spin(500);
        imbrex_consume_begin("edge", in);
        spin(3000);
        imbrex_consume_end("edge", N);
    }
    MPI_Finalize();
    return 0;
}
