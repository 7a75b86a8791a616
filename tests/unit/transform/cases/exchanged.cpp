// Two fields of one size that change places; the requests of their halos are in a std::array.
#include <mpi.h>
#include <array>
#include <iomanip>
#include <iostream>
#include <utility>
#include <vector>
template <class T> MPI_Datatype mpi_type();
template <> MPI_Datatype mpi_type<double>() { return MPI_DOUBLE; }
template <> MPI_Datatype mpi_type<float>() { return MPI_FLOAT; }
template <class T> class Field3 {
public:
  Field3(int nx, int ny, int nz)
      : nx_(nx), ny_(ny), nz_(nz), data_((nx + 2) * (ny + 2) * (nz + 2)) {}
  T &operator()(int i, int j, int k) { return data_[(i * (ny_ + 2) + j) * (nz_ + 2) + k]; }
  const T &operator()(int i, int j, int k) const {
    return data_[(i * (ny_ + 2) + j) * (nz_ + 2) + k];
  }
  int nx() const { return nx_; }
  int ny() const { return ny_; }
  int nz() const { return nz_; }
  T *data() { return data_.data(); }
private:
  int nx_, ny_, nz_;
  std::vector<T> data_;
};
template <class T> void exchange(Field3<T> &f, int lo, int hi, MPI_Comm comm) {
  std::array<MPI_Request, 4> r;
  int count = (f.ny() + 2) * (f.nz() + 2);
  MPI_Irecv(&f(0, 0, 0), count, mpi_type<T>(), lo, 1, comm, &r[0]);
  MPI_Irecv(&f(f.nx() + 1, 0, 0), count, mpi_type<T>(), hi, 2, comm, &r[1]);
  MPI_Isend(&f(1, 0, 0), count, mpi_type<T>(), lo, 2, comm, &r[2]);
  MPI_Isend(&f(f.nx(), 0, 0), count, mpi_type<T>(), hi, 1, comm, &r[3]);
  MPI_Waitall(r.size(), r.data(), MPI_STATUSES_IGNORE);
}
template <class T> void laplace(const Field3<T> &u, Field3<T> &v) {
  for (int i = 1; i <= u.nx(); ++i)
    for (int j = 1; j <= u.ny(); ++j)
      for (int k = 1; k <= u.nz(); ++k)
        v(i, j, k) = u(i, j, k) + T(0.1) * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) +
                                            u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1) -
                                            6 * u(i, j, k));
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Field3<double> u(20, 20, 20), v(20, 20, 20);
  for (int i = 0; i < 22; i++)
    for (int j = 0; j < 22; j++)
      for (int k = 0; k < 22; k++) u(i, j, k) = v(i, j, k) = i + 2 * j - k + rank;
  int lo = (rank + size - 1) % size, hi = (rank + 1) % size;
  for (int t = 0; t < 20; t++) {
    exchange(u, lo, hi, MPI_COMM_WORLD);
    laplace(u, v);
    std::swap(u, v);
  }
  double s = 0, g;
  for (int i = 1; i < 21; i++)
    for (int j = 1; j < 21; j++)
      for (int k = 1; k < 21; k++) s += u(i, j, k);
  MPI_Reduce(&s, &g, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::cout << std::setprecision(12) << g << "\n";
  MPI_Finalize();
}
