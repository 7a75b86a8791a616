// A plane of cells with columns that lambdas pack, tracers by iterators, all of main in a try.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

struct Tracer {
    double x, y;
};

class Plane {
public:
    Plane(int nx, int ny, int rank)
        : nx_(nx), ny_(ny), u_((nx + 2) * (ny + 2)), v_((nx + 2) * (ny + 2)), out_(ny), in_(ny),
          tracers_(40)
    {
        for (int j = 0; j < ny + 2; ++j)
            for (int i = 0; i < nx + 2; ++i)
                at(u_, i, j) = (i * 5 + j * 3 + rank) % 16;
    }

    void exchange(const std::array<int, 2> &to, MPI_Comm comm)
    {
        MPI_Sendrecv(&at(u_, 0, 1), nx_ + 2, MPI_DOUBLE, to[0], 0, &at(u_, 0, ny_ + 1), nx_ + 2,
                     MPI_DOUBLE, to[1], 0, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&at(u_, 0, ny_), nx_ + 2, MPI_DOUBLE, to[1], 1, &at(u_, 0, 0), nx_ + 2,
                     MPI_DOUBLE, to[0], 1, comm, MPI_STATUS_IGNORE);
    }

    void drift()
    {
        for (auto it = tracers_.begin(); it != tracers_.end(); ++it)
            it->x += 0.5 * it->y;
        std::for_each(tracers_.begin(), tracers_.end(), [](Tracer &each) { each.y += 1.0; });
    }

    void step()
    {
        for (int j = 1; j <= ny_; ++j)
            for (int i = 1; i <= nx_; ++i)
                at(v_, i, j) = 0.25 * (at(u_, i - 1, j) + at(u_, i + 1, j) + at(u_, i, j - 1) +
                                       at(u_, i, j + 1));
        std::swap(u_, v_);
    }

    void shift(const std::array<int, 2> &to, MPI_Comm comm)
    {
        auto pack = [&](std::vector<double> &column, int i) {
            for (int j = 1; j <= ny_; ++j)
                column[j - 1] = at(u_, i, j);
        };
        pack(out_, nx_);
        MPI_Sendrecv(out_.data(), ny_, MPI_DOUBLE, to[1], 2, in_.data(), ny_, MPI_DOUBLE, to[0], 2,
                     comm, MPI_STATUS_IGNORE);
        drift();
        for (int j = 1; j <= ny_; ++j)
            at(u_, 0, j) = in_[j - 1];
    }

    double sum()
    {
        double found = tracers_[3].x;
        for (int j = 1; j <= ny_; ++j)
            for (int i = 1; i <= nx_; ++i)
                found += at(u_, i, j);
        return found;
    }

private:
    double &at(std::vector<double> &f, int i, int j) { return f[j * (nx_ + 2) + i]; }

    int nx_, ny_;
    std::vector<double> u_, v_, out_, in_;
    std::vector<Tracer> tracers_;
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        int rank, size;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (size > 1000)
            throw std::runtime_error("too many ranks");
        const std::array<int, 2> to{(rank + size - 1) % size, (rank + 1) % size};
        Plane plane(32, 24, rank);
        for (int it = 0; it < 5; ++it) {
            plane.exchange(to, MPI_COMM_WORLD);
            plane.step();
            plane.shift(to, MPI_COMM_WORLD);
        }
        std::printf("rank %d: %.10f\n", rank, plane.sum());
    } catch (...) {
        std::cerr << "something went wrong" << std::endl;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
