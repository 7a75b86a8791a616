// Conjugate gradients whose vectors are updated by algorithms with lambdas.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

using Vec = std::vector<double>;

static double dot(const Vec &a, const Vec &b, MPI_Comm comm)
{
    double local = std::inner_product(a.begin() + 1, a.end() - 1, b.begin() + 1, 0.0);
    double global = 0.0;
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, comm);
    return global;
}

static void halo(Vec &x, int left, int right, MPI_Comm comm)
{
    const int n = static_cast<int>(x.size()) - 2;
    MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, left, 10, &x[n + 1], 1, MPI_DOUBLE, right, 10, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, right, 11, &x[0], 1, MPI_DOUBLE, left, 11, comm,
                 MPI_STATUS_IGNORE);
}

static void multiply(const Vec &x, Vec &y)
{
    for (std::size_t i = 1; i + 1 < x.size(); ++i)
        y[i] = 4.0 * x[i] - x[i - 1] - x[i + 1];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    constexpr int n = 200;
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    Vec x(n + 2), b(n + 2, 1.0), r(n + 2), p(n + 2), q(n + 2);
    std::for_each(b.begin(), b.end(), [rank](double &v) { v += rank % 3; });
    std::copy(b.begin(), b.end(), r.begin());
    std::copy(r.begin(), r.end(), p.begin());
    double rho = dot(r, r, comm);
    for (int it = 0; it < 12; ++it) {
        halo(p, left, right, comm);
        multiply(p, q);
        const double alpha = rho / dot(p, q, comm);
        std::transform(x.begin(), x.end(), p.begin(), x.begin(),
                       [alpha](double xi, double pi) { return xi + alpha * pi; });
        std::transform(r.begin(), r.end(), q.begin(), r.begin(),
                       [alpha](double ri, double qi) { return ri - alpha * qi; });
        const double found = dot(r, r, comm);
        const double beta = found / rho;
        std::transform(r.begin(), r.end(), p.begin(), p.begin(),
                       [&](double ri, double pi) { return ri + beta * pi; });
        rho = found;
    }
    const double largest = std::accumulate(x.begin() + 1, x.end() - 1, 0.0,
                                           [](double a, double v) { return std::max(a, v); });
    std::printf("rank %d: largest %.10f of %.10f\n", rank, largest, x[n / 2]);
    MPI_Finalize();
    return 0;
}
