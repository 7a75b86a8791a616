// Heat in a plane: a class with its exchange, its step and its residual, declared before they are
// defined, and a second field that another class has in the style of a header.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace plane {

class Heat {
public:
    Heat(int columns, int rows, MPI_Comm comm);
    double run(int steps);
    double sum() const;

private:
    void exchange();
    void step();
    double residual() const;
    int at(int i, int j) const { return i * (nx_ + 2) + j; }

    MPI_Comm comm_;
    int nx_, ny_, up_, down_;
    std::vector<double> u_, v_;
    MPI_Request requests_[4];
};

Heat::Heat(int columns, int rows, MPI_Comm comm)
    : comm_(comm), nx_(columns), ny_(rows), u_((columns + 2) * (rows + 2)),
      v_((columns + 2) * (rows + 2))
{
    int rank, size;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    up_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= ny_; ++i)
        for (int j = 1; j <= nx_; ++j)
            u_[at(i, j)] = (7 * i + 3 * j + 5 * rank) % 11;
}

void Heat::exchange()
{
    MPI_Irecv(&u_[at(0, 1)], nx_, MPI_DOUBLE, up_, 1, comm_, &requests_[0]);
    MPI_Irecv(&u_[at(ny_ + 1, 1)], nx_, MPI_DOUBLE, down_, 2, comm_, &requests_[1]);
    MPI_Isend(&u_[at(ny_, 1)], nx_, MPI_DOUBLE, down_, 1, comm_, &requests_[2]);
    MPI_Isend(&u_[at(1, 1)], nx_, MPI_DOUBLE, up_, 2, comm_, &requests_[3]);
    MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
}

void Heat::step()
{
    for (int i = 1; i <= ny_; ++i) {
        for (int j = 1; j <= nx_; ++j) {
            v_[at(i, j)] = u_[at(i, j)]
                + 0.2 * (u_[at(i - 1, j)] + u_[at(i + 1, j)] + u_[at(i, j - 1)] + u_[at(i, j + 1)]
                         - 4.0 * u_[at(i, j)]);
        }
    }
}

double Heat::residual() const
{
    double mine = 0.0, all = 0.0;
    for (int i = 1; i <= ny_; ++i)
        for (int j = 1; j <= nx_; ++j)
            mine = std::max(mine, std::fabs(u_[at(i, j)] - v_[at(i, j)]));
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return all;
}

double Heat::run(int steps)
{
    double rest = 0.0;
    for (int t = 0; t < steps; ++t) {
        exchange();
        step();
        rest = residual();
        std::swap(u_, v_);
    }
    return rest;
}

double Heat::sum() const
{
    double mine = 0.0, all = 0.0;
    for (int i = 1; i <= ny_; ++i)
        for (int j = 1; j <= nx_; ++j)
            mine += u_[at(i, j)] * (1 + i % 3);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, comm_);
    return all;
}

// One direction, with its methods in the class.
struct Wave {
    int n, left, right;
    double c;
    std::vector<double> u, v;

    explicit Wave(int cells) : n(cells), c(0.3), u(cells + 2), v(cells + 2)
    {
        int rank, size;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        left = (rank + size - 1) % size;
        right = (rank + 1) % size;
        for (int i = 1; i <= n; i++)
            u[i] = (5 * i + 3 * rank) % 13;
    }
    void exchange()
    {
        MPI_Request r[4];
        MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&u[n + 1], 1, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(&u[n], 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    void step()
    {
        for (int i = 1; i <= n; i++)
            v[i] = u[i] - c * (u[i + 1] - u[i - 1]) + c * c * (u[i + 1] - 2 * u[i] + u[i - 1]);
    }
};

} // namespace plane

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        plane::Heat heat(60, 40, MPI_COMM_WORLD);
        const double rest = heat.run(20);
        const double sum = heat.sum();
        if (rank == 0)
            std::printf("heat %.12g %.12g\n", rest, sum);
        plane::Wave wave(200);
        for (int t = 0; t < 30; t++) {
            wave.exchange();
            wave.step();
            std::swap(wave.u, wave.v);
        }
        double mine = 0.0;
        for (int i = 1; i <= wave.n; i++)
            mine += wave.u[i] * (1 + i % 5);
        std::printf("wave %d %.12g\n", rank, mine);
    }
    MPI_Finalize();
    return 0;
}
