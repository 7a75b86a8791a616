// A field of any type on slabs, as class templates with one instance each; a trait says the
// datatype of its elements.
#include <mpi.h>

#include <cstdio>
#include <vector>

template <class T> struct mpi_type;
template <> struct mpi_type<double> {
    static MPI_Datatype get() { return MPI_DOUBLE; }
};
template <> struct mpi_type<float> {
    static MPI_Datatype get() { return MPI_FLOAT; }
};

template <class T> class Array3D {
  public:
    Array3D(int nx, int ny, int nz)
        : nx_(nx), ny_(ny), nz_(nz), data_((nx + 2) * (ny + 2) * (nz + 2)) {}
    T &operator()(int i, int j, int k) { return data_[(i * (ny_ + 2) + j) * (nz_ + 2) + k]; }
    const T &operator()(int i, int j, int k) const {
        return data_[(i * (ny_ + 2) + j) * (nz_ + 2) + k];
    }
    T *plane(int i) { return data_.data() + i * (ny_ + 2) * (nz_ + 2); }
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    int nz() const { return nz_; }
    int plane_size() const { return (ny_ + 2) * (nz_ + 2); }

  private:
    int nx_, ny_, nz_;
    std::vector<T> data_;
};

template <class T> class Halo {
  public:
    Halo(MPI_Comm comm) : comm_(comm) {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        low_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        high_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    }
    void exchange(Array3D<T> &a) {
        int n = a.plane_size();
        MPI_Sendrecv(a.plane(a.nx()), n, mpi_type<T>::get(), high_, 0, a.plane(0), n,
                     mpi_type<T>::get(), low_, 0, comm_, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a.plane(1), n, mpi_type<T>::get(), low_, 1, a.plane(a.nx() + 1), n,
                     mpi_type<T>::get(), high_, 1, comm_, MPI_STATUS_IGNORE);
    }

  private:
    MPI_Comm comm_;
    int low_, high_;
};

template <class T> void relax(const Array3D<T> &u, Array3D<T> &v) {
    for (int i = 1; i <= u.nx(); ++i)
        for (int j = 1; j <= u.ny(); ++j)
            for (int k = 1; k <= u.nz(); ++k)
                v(i, j, k) = (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) +
                              u(i, j, k - 1) + u(i, j, k + 1)) /
                             6;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Array3D<double> u(10, 12, 14), v(10, 12, 14);
        Halo<double> halo(MPI_COMM_WORLD);
        for (int i = 1; i <= 10; ++i)
            for (int j = 1; j <= 12; ++j)
                for (int k = 1; k <= 14; ++k)
                    u(i, j, k) = i + 2 * j + 3 * k + rank;
        for (int step = 0; step < 10; ++step) {
            halo.exchange(u);
            relax(u, v);
            halo.exchange(v);
            relax(v, u);
        }
        double sum = 0, total;
        for (int i = 1; i <= 10; ++i)
            for (int j = 1; j <= 12; ++j)
                for (int k = 1; k <= 14; ++k)
                    sum += u(i, j, k) * (i + j * k % 3);
        MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("%.12g\n", total);
    }
    MPI_Finalize();
    return 0;
}
