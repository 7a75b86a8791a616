// A class template whose methods are defined outside of it, as in most headers.
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T> struct mpi_type;
template <> struct mpi_type<double> { static MPI_Datatype get() { return MPI_DOUBLE; } };
template <> struct mpi_type<float> { static MPI_Datatype get() { return MPI_FLOAT; } };

template <typename T>
class Field {
public:
    Field(MPI_Comm comm, int nx, int ny);
    void exchange();
    void smooth();
    void swap();
    T norm() const;
    T &at(int i, int j) { return u_[j * nx_ + i]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }

private:
    MPI_Comm comm_;
    int nx_, ny_, up_, down_;
    std::vector<T> u_, v_;
};

template <typename T>
Field<T>::Field(MPI_Comm comm, int nx, int ny)
    : comm_(comm), nx_(nx), ny_(ny), u_(nx * (ny + 2)), v_(nx * (ny + 2))
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    up_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down_ = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
}

template <typename T>
void Field<T>::exchange()
{
    MPI_Request req[4];
    MPI_Irecv(&u_[0], nx_, mpi_type<T>::get(), up_, 0, comm_, &req[0]);
    MPI_Irecv(&u_[(ny_ + 1) * nx_], nx_, mpi_type<T>::get(), down_, 1, comm_, &req[1]);
    MPI_Isend(&u_[nx_], nx_, mpi_type<T>::get(), up_, 1, comm_, &req[2]);
    MPI_Isend(&u_[ny_ * nx_], nx_, mpi_type<T>::get(), down_, 0, comm_, &req[3]);
    MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
}

template <typename T>
void Field<T>::smooth()
{
    for (int j = 1; j <= ny_; j++)
        for (int i = 1; i < nx_ - 1; i++)
            v_[j * nx_ + i] = T(0.25) * (u_[(j - 1) * nx_ + i] + u_[(j + 1) * nx_ + i]
                                         + u_[j * nx_ + i - 1] + u_[j * nx_ + i + 1]);
}

template <typename T>
void Field<T>::swap()
{
    for (int j = 1; j <= ny_; j++)
        for (int i = 1; i < nx_ - 1; i++)
            u_[j * nx_ + i] = v_[j * nx_ + i];
}

template <typename T>
T Field<T>::norm() const
{
    T s = 0, t = 0;
    for (int j = 1; j <= ny_; j++)
        for (int i = 0; i < nx_; i++)
            s += u_[j * nx_ + i] * u_[j * nx_ + i];
    MPI_Allreduce(&s, &t, 1, mpi_type<T>::get(), MPI_SUM, comm_);
    return std::sqrt(t);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        Field<double> f(MPI_COMM_WORLD, 64, 48);
        for (int j = 0; j < f.ny() + 2; j++)
            for (int i = 0; i < f.nx(); i++)
                f.at(i, j) = std::sin(0.1 * (i + j * (rank + 1)));
        for (int it = 0; it < 10; it++) {
            f.exchange();
            f.smooth();
            f.swap();
        }
        double n = f.norm();
        if (rank == 0)
            std::printf("%.12g\n", n);
    }
    MPI_Finalize();
    return 0;
}
