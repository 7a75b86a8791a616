// Diffusion on slabs; the halo posts messages to the neighbours that it has, and counts them.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), data_((nx + 2) * (ny + 2)) {}
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    double *row(int i) { return data_.data() + i * (ny_ + 2); }
    double &operator()(int i, int j) { return data_[i * (ny_ + 2) + j]; }
    const double &operator()(int i, int j) const { return data_[i * (ny_ + 2) + j]; }

  private:
    int nx_, ny_;
    std::vector<double> data_;
};

class Halo {
  public:
    Halo(MPI_Comm comm, int rank, int size) : comm_(comm), n_(0) {
        low_ = rank > 0 ? rank - 1 : -1;
        high_ = rank + 1 < size ? rank + 1 : -1;
    }
    void begin(Field &f) {
        n_ = 0;
        if (low_ >= 0) {
            MPI_Irecv(f.row(0), f.ny() + 2, MPI_DOUBLE, low_, 1, comm_, &requests_[n_++]);
            MPI_Isend(f.row(1), f.ny() + 2, MPI_DOUBLE, low_, 2, comm_, &requests_[n_++]);
        }
        if (high_ >= 0) {
            MPI_Irecv(f.row(f.nx() + 1), f.ny() + 2, MPI_DOUBLE, high_, 2, comm_, &requests_[n_++]);
            MPI_Isend(f.row(f.nx()), f.ny() + 2, MPI_DOUBLE, high_, 1, comm_, &requests_[n_++]);
        }
    }
    void end() { MPI_Waitall(n_, requests_, MPI_STATUSES_IGNORE); }
    void exchange(Field &f) {
        begin(f);
        end();
    }

  private:
    MPI_Comm comm_;
    int low_, high_, n_;
    MPI_Request requests_[4];
};

static void diffuse(const Field &a, Field &b) {
    for (int i = 1; i <= a.nx(); ++i)
        for (int j = 1; j <= a.ny(); ++j)
            b(i, j) = 0.6 * a(i, j) + 0.1 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int nx = 24, ny = 30;
    Field a(nx, ny), b(nx, ny);
    for (int i = 0; i < nx + 2; ++i)
        for (int j = 0; j < ny + 2; ++j) a(i, j) = b(i, j) = std::sin(0.2 * (rank * nx + i)) + 0.05 * j;
    Halo halo(MPI_COMM_WORLD, rank, size);
    for (int s = 0; s < 20; ++s) {
        halo.begin(a);
        halo.end();
        diffuse(a, b);
        halo.exchange(b);
        diffuse(b, a);
    }
    double sum = 0;
    for (int i = 1; i <= nx; ++i)
        for (int j = 1; j <= ny; ++j) sum += a(i, j) * (1 + (i + 2 * j) % 5);
    std::printf("rank %d sum %.12e\n", rank, sum);
    MPI_Finalize();
    return 0;
}
