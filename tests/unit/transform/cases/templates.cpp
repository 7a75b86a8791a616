// A class template as a field, and a class that exchanges its columns in two halves.
#include <mpi.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

template <class T> class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), data_((nx + 2) * (ny + 2), T()) {}
    T &operator()(int i, int j) { return data_[i + (nx_ + 2) * j]; }
    const T &operator()(int i, int j) const { return data_[i + (nx_ + 2) * j]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    void swap(Field &other) { data_.swap(other.data_); }

  private:
    int nx_, ny_;
    std::vector<T> data_;
};

class Ring {
  public:
    explicit Ring(MPI_Comm comm) : comm_(comm)
    {
        int size;
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size);
        left_ = (rank_ + size - 1) % size;
        right_ = (rank_ + 1) % size;
    }
    int left() const { return left_; }
    int right() const { return right_; }
    int rank() const { return rank_; }
    MPI_Comm comm() const { return comm_; }

  private:
    MPI_Comm comm_;
    int rank_, left_, right_;
};

class Halo {
  public:
    Halo(const Ring &ring, int ny) : ring_(ring), ny_(ny)
    {
        for (int side = 0; side < 2; side++) {
            send_[side].resize(ny + 2);
            recv_[side].resize(ny + 2);
        }
        requests_.fill(MPI_REQUEST_NULL);
    }
    void start(const Field<double> &u);
    void finish(Field<double> &u);

  private:
    const Ring &ring_;
    int ny_;
    std::array<std::vector<double>, 2> send_, recv_;
    std::array<MPI_Request, 4> requests_;
};

void Halo::start(const Field<double> &u)
{
    for (int j = 0; j < ny_ + 2; j++) {
        send_[0][j] = u(1, j);
        send_[1][j] = u(u.nx(), j);
    }
    MPI_Comm comm = ring_.comm();
    MPI_Irecv(recv_[0].data(), ny_ + 2, MPI_DOUBLE, ring_.left(), 1, comm, &requests_[0]);
    MPI_Irecv(recv_[1].data(), ny_ + 2, MPI_DOUBLE, ring_.right(), 0, comm, &requests_[1]);
    MPI_Isend(send_[0].data(), ny_ + 2, MPI_DOUBLE, ring_.left(), 0, comm, &requests_[2]);
    MPI_Isend(send_[1].data(), ny_ + 2, MPI_DOUBLE, ring_.right(), 1, comm, &requests_[3]);
}

void Halo::finish(Field<double> &u)
{
    MPI_Waitall(4, requests_.data(), MPI_STATUSES_IGNORE);
    for (int j = 0; j < ny_ + 2; j++) {
        u(0, j) = recv_[0][j];
        u(u.nx() + 1, j) = recv_[1][j];
    }
}

static void diffuse(const Field<double> &u, Field<double> &v, double k)
{
    for (int j = 1; j <= u.ny(); j++)
        for (int i = 1; i <= u.nx(); i++)
            v(i, j) = u(i, j) + k * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) -
                      4.0 * k * u(i, j);
}

static void react(Field<double> &w)
{
    for (int j = 1; j <= w.ny(); j++)
        for (int i = 1; i <= w.nx(); i++)
            w(i, j) = w(i, j) + 0.1 * w(i, j) * (1.0 - w(i, j));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        const int n = 64;
        Ring ring(MPI_COMM_WORLD);
        Halo halo(ring, n);
        Field<double> u(n, n), v(n, n), w(n, n);
        for (int j = 0; j <= n + 1; j++)
            for (int i = 0; i <= n + 1; i++) {
                u(i, j) = std::sin(0.1 * i + ring.rank()) * std::cos(0.2 * j);
                w(i, j) = 0.5;
            }
        for (int step = 0; step < 10; step++) {
            halo.start(u);
            halo.finish(u);
            react(w);
            diffuse(u, v, 0.1);
            u.swap(v);
        }
        double sum = 0.0;
        for (int j = 1; j <= n; j++)
            for (int i = 1; i <= n; i++)
                sum += u(i, j) * u(i, j) + w(i, j);
        for (int rank = 0; rank < 2; rank++) {
            if (rank == ring.rank())
                std::printf("rank %d sum %.15g\n", rank, sum);
            std::fflush(stdout);
            MPI_Barrier(ring.comm());
        }
    }
    MPI_Finalize();
    return 0;
}
