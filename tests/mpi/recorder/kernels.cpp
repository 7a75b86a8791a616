// Messages of containers whose orders are known; each has its tag. Ranks 0 and 1 exchange.
#include <algorithm>
#include <complex>
#include <mpi.h>
#include <numeric>
#include <vector>

namespace
{

template <typename T> class Edge
{
  public:
    Edge(int count, int tag) : out(count), in(count), tag(tag)
    {
    }
    void exchange(MPI_Datatype type)
    {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Sendrecv(out.data(), static_cast<int>(out.size()), type, 1 - rank, tag, in.data(),
                     static_cast<int>(in.size()), type, 1 - rank, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    std::vector<T> out, in;

  private:
    int tag;
};

volatile double sink;

} // namespace

int main(int argc, char **argv)
{
    const int n = 24;
    MPI_Init(&argc, &argv);
    {
        Edge<double> direct(n, 1), copied(n, 2);
        Edge<std::complex<double>> pairs(n, 3);
        std::vector<double> field(n), ghost(n);
        for (int step = 0; step < 6; step++) {
            // Written from the last to the first, read from the first to the last.
            double value = step;
            std::generate(direct.out.rbegin(), direct.out.rend(), [&] { return value += 1; });
            direct.exchange(MPI_DOUBLE);
            sink = std::accumulate(direct.in.begin(), direct.in.end(), 0.0);

            // The same of what is copied; what came is copied, and read from the last to the first.
            std::generate(field.rbegin(), field.rend(), [&] { return value += 1; });
            std::copy(field.begin(), field.end(), copied.out.begin());
            copied.exchange(MPI_DOUBLE);
            ghost = copied.in;
            sink = std::accumulate(ghost.rbegin(), ghost.rend(), 0.0);

            for (auto &pair : pairs.out)
                pair = {value += 1, value};
            pairs.exchange(MPI_C_DOUBLE_COMPLEX);
            double sum = 0;
            std::for_each(pairs.in.rbegin(), pairs.in.rend(),
                          [&](const std::complex<double> &pair) { sum += std::norm(pair); });
            sink = sum;
        }
    }
    MPI_Finalize();
    return 0;
}
