// In the style of stencil codes in C++: a class has its fields and buffers in vectors and the
// requests in one more; a method begins the exchange of halos, another ends it, and a third computes
// what needs none of it. The result is compared with that of one process.
#include <mpi.h>
#include <cstdio>
#include <vector>

class Jacobi
{
  public:
    Jacobi(int rows, int columns, MPI_Comm comm);
    void fill(int first_row);
    void beginExchange();
    void endExchange();
    void interior();
    void boundary();
    void step();
    const std::vector<double> &field() const { return u_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

  private:
    void relax(int row);
    int rows_, columns_;
    MPI_Comm comm_;
    int rank_, ranks_, up_, down_;
    std::vector<double> u_, next_;
    std::vector<double> send_up_, send_down_, receive_up_, receive_down_;
    std::vector<MPI_Request> requests_;
};

Jacobi::Jacobi(int rows, int columns, MPI_Comm comm)
    : rows_(rows), columns_(columns), comm_(comm), u_((rows + 2) * columns),
      next_((rows + 2) * columns), send_up_(columns), send_down_(columns), receive_up_(columns),
      receive_down_(columns), requests_(4, MPI_REQUEST_NULL)
{
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    up_ = (rank_ + 1) % ranks_;
    down_ = (rank_ + ranks_ - 1) % ranks_;
}

void Jacobi::fill(int first_row)
{
    for (int i = 1; i <= rows_; i++)
        for (int j = 0; j < columns_; j++)
            u_[i * columns_ + j] = (first_row + i) * 31 % 17 + j * 7 % 5;
}

void Jacobi::beginExchange()
{
    for (int j = 0; j < columns_; j++) {
        send_down_[j] = u_[columns_ + j];
        send_up_[j] = u_[rows_ * columns_ + j];
    }
    MPI_Irecv(receive_down_.data(), columns_, MPI_DOUBLE, down_, 1, comm_, &requests_[0]);
    MPI_Irecv(receive_up_.data(), columns_, MPI_DOUBLE, up_, 2, comm_, &requests_[1]);
    MPI_Isend(send_down_.data(), columns_, MPI_DOUBLE, down_, 2, comm_, &requests_[2]);
    MPI_Isend(send_up_.data(), columns_, MPI_DOUBLE, up_, 1, comm_, &requests_[3]);
}

void Jacobi::endExchange()
{
    MPI_Waitall(4, requests_.data(), MPI_STATUSES_IGNORE);
    for (int j = 0; j < columns_; j++) {
        u_[j] = receive_down_[j];
        u_[(rows_ + 1) * columns_ + j] = receive_up_[j];
    }
}

void Jacobi::relax(int row)
{
    for (int j = 0; j < columns_; j++)
        next_[row * columns_ + j] = 0.25 * (u_[(row - 1) * columns_ + j] + u_[(row + 1) * columns_ + j]) +
                                    0.5 * u_[row * columns_ + j];
}

void Jacobi::interior()
{
    for (int i = 2; i < rows_; i++)
        for (int j = 0; j < columns_; j++)
            next_[i * columns_ + j] = 0.25 * (u_[(i - 1) * columns_ + j] + u_[(i + 1) * columns_ + j]) +
                                      0.5 * u_[i * columns_ + j];
}

void Jacobi::boundary()
{
    relax(1);
    relax(rows_);
    for (int i = columns_; i < (rows_ + 1) * columns_; i++)
        u_[i] = next_[i];
}

void Jacobi::step()
{
    beginExchange();
    endExchange();
    interior();
    boundary();
}

int main(int argc, char **argv)
{
    const int rows = 12, columns = 40, steps = 6;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    {
        Jacobi mine(rows, columns, MPI_COMM_WORLD);
        Jacobi whole(rows * mine.ranks(), columns, MPI_COMM_SELF);
        mine.fill(rows * mine.rank());
        whole.fill(0);
        for (int step = 0; step < steps; step++) {
            mine.beginExchange();
            mine.endExchange();
            mine.interior();
            mine.boundary();
            whole.step();
        }
        const std::vector<double> &u = mine.field(), &all = whole.field();
        for (int i = 1; i <= rows; i++)
            for (int j = 0; j < columns; j++)
                wrong += u[i * columns + j] != all[(rows * mine.rank() + i) * columns + j];
        std::printf("rank %d: wrong values %d\n", mine.rank(), wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
