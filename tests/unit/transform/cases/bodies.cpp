// Diffusion on slabs: a Field that its constructor's body sizes, a Halo that posts rows by methods,
// and error codes that are asserted or checked behind the calls.
#include <mpi.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

static void check(int code) {
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, code);
}

class Field {
  public:
    Field(int nx, int ny) {
        nx_ = nx;
        ny_ = ny;
        data_.resize((nx + 2) * (ny + 2));
    }
    double *row(int i) { return data_.data() + i * (ny_ + 2); }
    double &operator()(int i, int j) { return data_[i * (ny_ + 2) + j]; }
    const double &operator()(int i, int j) const { return data_[i * (ny_ + 2) + j]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }

  private:
    int nx_, ny_;
    std::vector<double> data_;
};

class Halo {
  public:
    Halo(MPI_Comm comm, int rank, int size) : comm_(comm), n_(0) {
        lo_ = rank > 0 ? rank - 1 : -1;
        hi_ = rank + 1 < size ? rank + 1 : -1;
    }
    void begin(Field &f) {
        n_ = 0;
        if (lo_ >= 0) {
            receive(f.row(0), f.ny() + 2, lo_, 1);
            send(f.row(1), f.ny() + 2, lo_, 2);
        }
        if (hi_ >= 0) {
            receive(f.row(f.nx() + 1), f.ny() + 2, hi_, 2);
            send(f.row(f.nx()), f.ny() + 2, hi_, 1);
        }
    }
    void end() {
        int code;
        code = MPI_Waitall(n_, reqs_, MPI_STATUSES_IGNORE);
        check(code);
    }

  private:
    void receive(double *p, int n, int from, int tag) {
        assert(MPI_Irecv(p, n, MPI_DOUBLE, from, tag, comm_, &reqs_[n_++]) == MPI_SUCCESS);
    }
    void send(double *p, int n, int to, int tag) {
        MPI_Isend(p, n, MPI_DOUBLE, to, tag, comm_, &reqs_[n_++]);
    }
    MPI_Comm comm_;
    int lo_, hi_, n_;
    MPI_Request reqs_[4];
};

static void diffuse(const Field &a, Field &b, double k) {
    for (int i = 1; i <= a.nx(); ++i)
        for (int j = 1; j <= a.ny(); ++j)
            b(i, j) = a(i, j) + k * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1) -
                                     4 * a(i, j));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int nx = 24, ny = 30;
    Field a(nx, ny), b(nx, ny);
    for (int i = 0; i < nx + 2; ++i)
        for (int j = 0; j < ny + 2; ++j)
            a(i, j) = b(i, j) = std::sin(0.2 * (rank * nx + i)) + 0.05 * j;
    Halo halo(MPI_COMM_WORLD, rank, size);
    for (int s = 0; s < 20; ++s) {
        halo.begin(a);
        halo.end();
        diffuse(a, b, 0.1);
        halo.begin(b);
        halo.end();
        diffuse(b, a, 0.1);
    }
    double sum = 0;
    for (int i = 1; i <= nx; ++i)
        for (int j = 1; j <= ny; ++j) sum += a(i, j) * (1 + (i + 2 * j) % 5);
    std::printf("rank %d sum %.12e\n", rank, sum);
    MPI_Finalize();
    return 0;
}
