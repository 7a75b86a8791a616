// In the style of conjugate-gradient proxies in C++: a matrix class packs the entries that others
// need, exchanges them in one method, and multiplies in another; vectors are passed by reference.
// The product is known.
#include <mpi.h>
#include <cstdio>
#include <vector>

class Matrix
{
  public:
    explicit Matrix(int rows);
    void exchange(std::vector<double> &x);
    void multiply(const std::vector<double> &x, std::vector<double> &y) const;
    double dot(const std::vector<double> &x, const std::vector<double> &y);
    void scale(double factor);
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    int rows() const { return rows_; }

  private:
    int rows_, width_, rank_, ranks_, left_, right_;
    std::vector<double> diagonal_, work_;
    std::vector<double> to_left_, to_right_, from_left_, from_right_;
};

Matrix::Matrix(int rows) : rows_(rows), width_(8)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    left_ = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    right_ = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL;
    diagonal_.resize(rows_);
    work_.assign(rows_, 1.0);
    to_left_.resize(width_);
    to_right_.resize(width_);
    from_left_.resize(width_);
    from_right_.resize(width_);
    for (int i = 0; i < rows_; i++)
        diagonal_[i] = 2.0;
}

// x has width_ entries of the left neighbour, rows_ of its own, width_ of the right neighbour.
void Matrix::exchange(std::vector<double> &x)
{
    MPI_Request request;
    for (int i = 0; i < width_; i++)
        to_right_[i] = x[rows_ + i];
    MPI_Irecv(from_right_.data(), width_, MPI_DOUBLE, right_, 2, MPI_COMM_WORLD, &request);
    MPI_Send(to_right_.data(), width_, MPI_DOUBLE, right_, 1, MPI_COMM_WORLD);
    for (int i = 0; i < width_; i++)
        to_left_[i] = x[width_ + i];
    MPI_Sendrecv(to_left_.data(), width_, MPI_DOUBLE, left_, 2, from_left_.data(), width_,
                 MPI_DOUBLE, left_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < rows_; i++)
        work_[i] = 0.5 * work_[i] + 0.5 * diagonal_[i];
    if (left_ != MPI_PROC_NULL)
        for (int i = 0; i < width_; i++)
            x[i] = from_left_[i];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (right_ != MPI_PROC_NULL)
        for (int i = 0; i < width_; i++)
            x[width_ + rows_ + i] = from_right_[i];
}

void Matrix::multiply(const std::vector<double> &x, std::vector<double> &y) const
{
    for (int i = 0; i < rows_; i++)
        y[i] = diagonal_[i] * x[width_ + i] - x[width_ + i - 1] - x[width_ + i + 1];
}

double Matrix::dot(const std::vector<double> &x, const std::vector<double> &y)
{
    double mine = 0.0, sum = 0.0;
    for (int i = 0; i < rows_; i++)
        mine += x[i] * y[i];
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

void Matrix::scale(double factor)
{
    for (double &x : work_)
        x = factor * x;
}

int main(int argc, char **argv)
{
    const int rows = 300, width = 8;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    {
        Matrix matrix(rows);
        std::vector<double> x(rows + 2 * width, 0.0), y(rows, 0.0);
        for (int step = 1; step <= 5; step++) {
            for (int i = 0; i < rows; i++)
                x[width + i] = step * (matrix.rank() * rows + i + 1.0);
            matrix.exchange(x);
            matrix.multiply(x, y);
            matrix.scale(0.5);
            const int last = matrix.rank() + 1 == matrix.ranks() ? rows - 1 : rows;
            for (int i = 0; i < last; i++)
                wrong += y[i] != 0.0;
            if (last < rows)
                wrong += y[last] != step * (matrix.ranks() * rows + 1.0);
        }
        const double sum = matrix.dot(y, y);
        std::printf("rank %d: sum %.17g, wrong values %d\n", matrix.rank(), sum, wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
