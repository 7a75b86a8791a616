/* A solver whose exchange is an object in it: both are made with the same size. */
#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

class Halo {
  public:
    Halo(MPI_Comm comm, int n) : comm_(comm), n_(n), out_(2 * n), in_(2 * n)
    {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        left_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        right_ = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    }
    void exchange(std::vector<double> &u)
    {
        for (int i = 0; i < n_; i++) {
            out_[i] = u[n_ + i];
            out_[n_ + i] = u[n_ * n_ + i];
        }
        MPI_Irecv(in_.data(), n_, MPI_DOUBLE, left_, 0, comm_, &requests_[0]);
        MPI_Irecv(in_.data() + n_, n_, MPI_DOUBLE, right_, 1, comm_, &requests_[1]);
        MPI_Isend(out_.data(), n_, MPI_DOUBLE, left_, 1, comm_, &requests_[2]);
        MPI_Isend(out_.data() + n_, n_, MPI_DOUBLE, right_, 0, comm_, &requests_[3]);
        MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n_; i++) {
            u[i] = left_ == MPI_PROC_NULL ? 1.0 : in_[i];
            u[(n_ + 1) * n_ + i] = right_ == MPI_PROC_NULL ? 2.0 : in_[n_ + i];
        }
    }

  private:
    MPI_Comm comm_;
    int n_, left_, right_;
    std::vector<double> out_, in_;
    MPI_Request requests_[4];
};

class Solver {
  public:
    Solver(MPI_Comm comm, int n) : halo_(comm, n), n_(n), u_((n + 2) * n), v_((n + 2) * n)
    {
        for (int i = 0; i < (n + 2) * n; i++)
            u_[i] = i % 17 / 4.0;
    }
    double step()
    {
        double largest = -std::numeric_limits<double>::max();
        halo_.exchange(u_);
        for (int j = 1; j <= n_; j++)
            for (int i = 1; i < n_ - 1; i++) {
                const int at = j * n_ + i;
                v_[at] = 0.25 * (u_[at - 1] + u_[at + 1] + u_[at - n_] + u_[at + n_]);
                largest = std::max(largest, std::fabs(v_[at] - u_[at]));
            }
        std::swap(u_, v_);
        return largest;
    }
    double sum() const
    {
        double s = 0.0;
        for (double x : u_)
            s += x;
        return s;
    }

  private:
    Halo halo_;
    int n_;
    std::vector<double> u_, v_;
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, n = 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = 2 * n;
    Solver solver(MPI_COMM_WORLD, n);
    double largest = 0.0;
    for (int k = 0; k < 10; k++)
        largest = solver.step();
    std::printf("%d %.12g %.12g\n", rank, largest, solver.sum());
    MPI_Finalize();
    return 0;
}
