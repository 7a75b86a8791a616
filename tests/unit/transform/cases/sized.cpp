// Two fields of one size; a function relaxes one into the other, by the sizes of the first.
#include <mpi.h>
#include <cstdio>
#include <vector>

class Field {
public:
  Field(int nx, int ny) : nx_(nx), ny_(ny), v_((nx + 2) * ny) {}
  int nx() const { return nx_; }
  int ny() const { return ny_; }
  double *data() { return v_.data(); }
  double &operator()(int i, int j) { return v_[i * ny_ + j]; }
  double operator()(int i, int j) const { return v_[i * ny_ + j]; }
private:
  int nx_, ny_;
  std::vector<double> v_;
};

class Halo {
public:
  explicit Halo(MPI_Comm c) : comm_(c) {
    MPI_Comm_rank(c, &rank_);
    MPI_Comm_size(c, &size_);
    up_ = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    down_ = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
  }
  int rank() const { return rank_; }
  void exchange(Field &f) {
    begin(f);
    end();
  }
  void begin(Field &f) {
    double *u = f.data();
    const int n = f.nx(), m = f.ny();
    MPI_Irecv(u, m, MPI_DOUBLE, up_, 0, comm_, &req_[0]);
    MPI_Irecv(u + (n + 1) * m, m, MPI_DOUBLE, down_, 1, comm_, &req_[1]);
    MPI_Isend(u + n * m, m, MPI_DOUBLE, down_, 0, comm_, &req_[2]);
    MPI_Isend(u + m, m, MPI_DOUBLE, up_, 1, comm_, &req_[3]);
  }
  void end() { MPI_Waitall(4, req_, MPI_STATUSES_IGNORE); }
private:
  MPI_Comm comm_;
  int rank_, size_, up_, down_;
  MPI_Request req_[4];
};

static void relax(const Field &a, Field &b) {
  for (int i = 1; i <= a.nx(); ++i)
    for (int j = 1; j < a.ny() - 1; ++j)
      b(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Halo halo(MPI_COMM_WORLD);
  const int nx = 20, ny = 30;
  Field a(nx, ny), b(nx, ny);
  for (int i = 0; i < 22; ++i)
    for (int j = 0; j < 30; ++j) {
      a(i, j) = (halo.rank() * 20 + i) * j % 17;
      b(i, j) = a(i, j);
    }
  for (int s = 0; s < 10; ++s) {
    halo.exchange(a);
    relax(a, b);
    halo.exchange(b);
    relax(b, a);
  }
  double sum = 0;
  for (int i = 1; i <= 20; ++i)
    for (int j = 0; j < 30; ++j) sum += a(i, j) * (1 + j % 4);
  std::printf("rank %d sum %.12e\n", halo.rank(), sum);
  MPI_Finalize();
  return 0;
}
