/* Work in pieces with an MPI_Test behind each, also after the request is complete: which of them
 * finds that out differs from run to run, here on purpose. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 500, PIECES = 12 };

static double out[N], in[N];
static volatile double sink;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *mode = getenv("IMBREX_ACCESS");
    int late = mode && *mode == 'r' ? 7 : 2;
    for (int step = 0; step < 20; step++) {
        MPI_Request request;
        for (int i = 0; i < N; i++)
            out[i] = step + i;
        MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &request);
        for (int piece = 0, done = 0; piece < PIECES; piece++) {
            if (piece == late) {
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD);
                for (int there = 0; !there;)
                    MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
            }
            for (int i = 0; i < 1000; i++)
                sink = i;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += in[i];
        sink = sum;
    }
    MPI_Finalize();
    return 0;
}
