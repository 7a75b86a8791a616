// The standard library's algorithms on buffers in flight: found at the line that calls them.
#include <algorithm>
#include <mpi.h>
#include <numeric>
#include <vector>

static std::vector<double> out(64, 1.0), in(64), own(64, 2.0);
static int rank_of_mine;
static volatile double sink;

template <class Access> static inline void in_flight(int tag, Access access)
{
    MPI_Request q[2];
    MPI_Irecv(in.data(), 32, MPI_DOUBLE, 1 - rank_of_mine, tag, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out.data(), 32, MPI_DOUBLE, 1 - rank_of_mine, tag, MPI_COMM_WORLD, &q[1]);
    access();
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_mine);
    const long n = 8 + argc;
    in_flight(1, [&] {
        std::copy(own.begin(), own.begin() + n, out.begin()); /* access write send */
    });
    in_flight(2, [&] {
        std::fill(out.begin(), out.begin() + n, 3.0); /* access write send */
    });
    in_flight(3, [&] {
        sink = std::accumulate(in.begin(), in.end(), 0.0); /* access read receive */
    });
    in_flight(4, [&] {
        for (double &x : out)
            x += 1; /* access write send */
    });
    in_flight(5, [&] {
        std::fill(out.begin() + 32, out.end(), 3.0);
        std::copy(out.begin(), out.begin() + n, own.begin());
        sink = std::accumulate(in.begin() + 32, in.end(), 0.0);
        std::sort(own.begin(), own.end());
    });
    MPI_Finalize();
    return 0;
}
