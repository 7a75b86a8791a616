// A plane of cells with its halo: a class that is whole in its header, as many proxies have it.
#pragma once
#include <mpi.h>

#include <utility>
#include <vector>

class Plane {
public:
    Plane(int columns, int rows, int seed, MPI_Comm comm)
        : nx_(columns), ny_(rows), comm_(comm), u_((columns + 2) * (rows + 2)),
          v_((columns + 2) * (rows + 2))
    {
        int rank, size;
        MPI_Comm_rank(comm_, &rank);
        MPI_Comm_size(comm_, &size);
        up_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        down_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
        for (int i = 1; i <= ny_; ++i)
            for (int j = 1; j <= nx_; ++j)
                u_[at(i, j)] = (7 * i + 3 * j + 5 * rank + seed) % 11;
    }

    void exchange()
    {
        MPI_Request requests[4];
        MPI_Irecv(&u_[at(0, 1)], nx_, MPI_DOUBLE, up_, 1, comm_, &requests[0]);
        MPI_Irecv(&u_[at(ny_ + 1, 1)], nx_, MPI_DOUBLE, down_, 2, comm_, &requests[1]);
        MPI_Isend(&u_[at(ny_, 1)], nx_, MPI_DOUBLE, down_, 1, comm_, &requests[2]);
        MPI_Isend(&u_[at(1, 1)], nx_, MPI_DOUBLE, up_, 2, comm_, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }

    void step()
    {
        for (int i = 1; i <= ny_; ++i) {
            for (int j = 1; j <= nx_; ++j) {
                v_[at(i, j)] = u_[at(i, j)]
                    + 0.2 * (u_[at(i - 1, j)] + u_[at(i + 1, j)] - 2.0 * u_[at(i, j)]);
            }
        }
    }

    void turn() { std::swap(u_, v_); }

    double sum() const
    {
        double mine = 0.0, all = 0.0;
        for (int i = 1; i <= ny_; ++i)
            for (int j = 1; j <= nx_; ++j)
                mine += u_[at(i, j)] * (1 + i % 3);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
        return all;
    }

private:
    int at(int i, int j) const { return i * (nx_ + 2) + j; }

    int nx_, ny_, up_, down_;
    MPI_Comm comm_;
    std::vector<double> u_, v_;
};

// A ring of cells as a structure of C with functions in the style of a header.
struct ring_t {
    int n, left, right;
    std::vector<double> u, v;
};

inline void exchange_ends(ring_t &r)
{
    MPI_Sendrecv(&r.u[r.n], 1, MPI_DOUBLE, r.right, 3, &r.u[0], 1, MPI_DOUBLE, r.left, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&r.u[1], 1, MPI_DOUBLE, r.left, 4, &r.u[r.n + 1], 1, MPI_DOUBLE, r.right, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

inline void advect(ring_t &r)
{
    for (int i = 1; i <= r.n; i++)
        r.v[i] = r.u[i] - 0.2 * (r.u[i + 1] - r.u[i - 1]);
}
