// Three time levels in memory from `new`, whose pointers a class rotates, and two that `std::swap`
// exchanges: no two of them are ever one array. The class has a constructor, and prints to a stream.
#include <mpi.h>
#include <iostream>
#include <utility>

class Wave
{
public:
    Wave(int n, int m, MPI_Comm comm) : n_(n), m_(m), comm_(comm)
    {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
        old_ = new double[(n + 2) * m]();
        cur_ = new double[(n + 2) * m]();
        next_ = new double[(n + 2) * m]();
        for (int i = 1; i <= n; i++)
            for (int j = 0; j < m; j++)
                cur_[i * m + j] = old_[i * m + j] = ((i + rank_ * n) * j) % 11;
    }
    ~Wave()
    {
        delete[] old_;
        delete[] cur_;
        delete[] next_;
    }
    void run(int steps)
    {
        for (int t = 0; t < steps; t++) {
            exchange();
            step();
            rotate();
        }
        double sum = 0.0;
        for (int i = 1; i <= n_; i++)
            for (int j = 0; j < m_; j++)
                sum += cur_[i * m_ + j] * (i + j);
        std::cout.precision(17);
        std::cout << rank_ << " " << sum << std::endl;
    }

private:
    void exchange()
    {
        int left = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
        int right = rank_ < size_ - 1 ? rank_ + 1 : MPI_PROC_NULL;
        MPI_Irecv(cur_, m_, MPI_DOUBLE, left, 0, comm_, &req_[0]);
        MPI_Irecv(cur_ + (n_ + 1) * m_, m_, MPI_DOUBLE, right, 1, comm_, &req_[1]);
        MPI_Isend(cur_ + m_, m_, MPI_DOUBLE, left, 1, comm_, &req_[2]);
        MPI_Isend(cur_ + n_ * m_, m_, MPI_DOUBLE, right, 0, comm_, &req_[3]);
        MPI_Waitall(4, req_, MPI_STATUSES_IGNORE);
    }
    void step()
    {
        for (int i = 1; i <= n_; i++)
            for (int j = 1; j < m_ - 1; j++) {
                double bend = cur_[(i - 1) * m_ + j] + cur_[(i + 1) * m_ + j] +
                              cur_[i * m_ + j - 1] + cur_[i * m_ + j + 1] - 4 * cur_[i * m_ + j];
                next_[i * m_ + j] = 2 * cur_[i * m_ + j] - old_[i * m_ + j] + 0.1 * bend;
            }
    }
    void rotate()
    {
        double *last = old_;
        old_ = cur_;
        cur_ = next_;
        next_ = last;
    }
    int n_, m_, rank_, size_;
    MPI_Comm comm_;
    double *old_, *cur_, *next_;
    MPI_Request req_[4];
};

class Heat
{
public:
    explicit Heat(int n) : n_(n), u_(nullptr), v_(nullptr)
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    void allocate();
    void run(int steps)
    {
        for (int t = 0; t < steps; t++) {
            MPI_Sendrecv(&u_[n_], 1, MPI_DOUBLE, (rank_ + 1) % size_, 2, &u_[0], 1, MPI_DOUBLE,
                         (rank_ + size_ - 1) % size_, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 1; i <= n_; i++)
                v_[i] = 0.5 * (u_[i - 1] + u_[i]);
            std::swap(u_, v_);
        }
        double sum = 0.0;
        for (int i = 1; i <= n_; i++)
            sum += u_[i] * i;
        std::cout << rank_ << " " << sum << std::endl;
        delete[] u_;
        delete[] v_;
    }

private:
    int n_, rank_, size_;
    double *u_, *v_;
};

void Heat::allocate()
{
    u_ = new double[n_ + 1];
    v_ = new double[n_ + 1];
    for (int i = 0; i <= n_; i++)
        u_[i] = v_[i] = rank_ + 0.01 * i;
}

int main(int argc, char **argv)
{
    std::ios::sync_with_stdio(false); // no line is torn by that of another rank
    MPI_Init(&argc, &argv);
    {
        Wave wave(30, 40, MPI_COMM_WORLD);
        wave.run(12);
        Heat heat(3000);
        heat.allocate();
        heat.run(8);
    }
    MPI_Finalize();
    return 0;
}
