// A stencil of several fields: class templates, a trait for datatypes, a halo with member requests.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

template <typename T> MPI_Datatype mpi_type();
template <> inline MPI_Datatype mpi_type<double>() { return MPI_DOUBLE; }
template <> inline MPI_Datatype mpi_type<float>() { return MPI_FLOAT; }

template <typename T> class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), data_((nx + 2) * ny) {}
    T *row(int i) { return data_.data() + i * ny_; }
    T &operator()(int i, int j) { return data_[i * ny_ + j]; }
    const T &operator()(int i, int j) const { return data_[i * ny_ + j]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }

  private:
    int nx_, ny_;
    std::vector<T> data_;
};

template <typename T> class Halo {
  public:
    Halo(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {
        int rank, size;
        MPI_Comm_rank(comm_, &rank);
        MPI_Comm_size(comm_, &size);
        up_ = (rank + size - 1) % size;
        down_ = (rank + 1) % size;
    }
    void begin(Field<T> &f) {
        const int n = f.nx(), m = f.ny();
        MPI_Irecv(f.row(0), m, mpi_type<T>(), up_, tag_, comm_, &requests_[0]);
        MPI_Irecv(f.row(n + 1), m, mpi_type<T>(), down_, tag_ + 1, comm_, &requests_[1]);
        MPI_Isend(f.row(n), m, mpi_type<T>(), down_, tag_, comm_, &requests_[2]);
        MPI_Isend(f.row(1), m, mpi_type<T>(), up_, tag_ + 1, comm_, &requests_[3]);
    }
    void finish() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }

  private:
    MPI_Comm comm_;
    int tag_, up_, down_;
    MPI_Request requests_[4];
};

template <typename T> void diffuse(const Field<T> &a, Field<T> &b, T k) {
    for (int i = 1; i <= a.nx(); ++i)
        for (int j = 1; j < a.ny() - 1; ++j)
            b(i, j) = a(i, j) + k * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1) - 4 * a(i, j));
}

template <typename T> void copy_back(Field<T> &a, const Field<T> &b) {
    for (int i = 1; i <= a.nx(); ++i)
        for (int j = 1; j < a.ny() - 1; ++j) a(i, j) = b(i, j);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Field<double> t(20, 30), t2(20, 30);
    Field<float> c(20, 30), c2(20, 30);
    for (int i = 0; i < 22; ++i)
        for (int j = 0; j < 30; ++j) {
            t(i, j) = std::cos(0.2 * (rank * 20 + i)) * j;
            c(i, j) = (float)(i * j % 11);
        }
    Halo<double> ht(MPI_COMM_WORLD, 10);
    Halo<float> hc(MPI_COMM_WORLD, 20);
    for (int step = 0; step < 25; ++step) {
        ht.begin(t);
        ht.finish();
        diffuse(t, t2, 0.1);
        hc.begin(c);
        hc.finish();
        diffuse(c, c2, 0.2f);
        copy_back(t, t2);
        copy_back(c, c2);
    }
    double sum = 0;
    for (int i = 1; i <= 20; ++i)
        for (int j = 0; j < 30; ++j) sum += t(i, j) * (1 + j % 4) + c(i, j);
    std::printf("rank %d sum %.12e\n", rank, sum);
    MPI_Finalize();
    return 0;
}
