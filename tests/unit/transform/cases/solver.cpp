// A solver behind an interface: its step is a virtual method, which fills and copies by algorithms
// of the library, and checks what MPI returns.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

class Solver {
  public:
    virtual ~Solver() = default;
    virtual void step(int number) = 0;
    virtual double sum() const = 0;
};

class Heat : public Solver {
  public:
    Heat(int rows, int columns, MPI_Comm comm)
        : rows_(rows), columns_(columns), comm_(comm), below_(columns),
          above_(columns), u_((rows + 2) * columns), v_((rows + 2) * columns),
          work_(500, 1.0), change_(rows)
    {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        low_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        high_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
        std::iota(u_.begin(), u_.end(), 1.0 + rank);
    }
    void step(int number) override
    {
        MPI_Request requests[2];
        MPI_Irecv(below_.data(), columns_, MPI_DOUBLE, low_, 0, comm_, &requests[0]);
        MPI_Irecv(above_.data(), columns_, MPI_DOUBLE, high_, 1, comm_, &requests[1]);
        MPI_Send(&u_[rows_ * columns_], columns_, MPI_DOUBLE, high_, 0, comm_);
        MPI_Send(&u_[columns_], columns_, MPI_DOUBLE, low_, 1, comm_);
        if (MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
            std::cerr << "no halo in line " << __LINE__ << std::endl;
            std::exit(1);
        }
        for (int i = 0; i < 500; i++)
            work_[i] = 0.5 * work_[i] + 0.01 * i * number;
        std::fill(change_.begin(), change_.end(), std::accumulate(work_.begin(), work_.end(), 0.0));
        std::copy(below_.begin(), below_.end(), u_.begin());
        std::copy_n(above_.begin(), columns_, u_.begin() + (rows_ + 1) * columns_);
        for (int i = 1; i <= rows_; i++)
            for (int j = 0; j < columns_; j++)
                v_[i * columns_ + j] = 0.25 * (u_[(i - 1) * columns_ + j] +
                                               2 * u_[i * columns_ + j] +
                                               u_[(i + 1) * columns_ + j]) +
                                       1e-5 * change_[i - 1];
        std::swap(u_, v_);
    }
    double sum() const override { return std::accumulate(u_.begin(), u_.end(), 0.0); }

  private:
    int rows_, columns_, low_, high_;
    MPI_Comm comm_;
    std::vector<double> below_, above_, u_, v_, work_, change_;
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        Heat heat(12, 20, MPI_COMM_WORLD);
        Solver &solver = heat;
        for (int number = 0; number < 8; number++)
            solver.step(number);
        double sum = solver.sum(), total = 0;
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("%.12e\n", total);
    }
    MPI_Finalize();
    return 0;
}
