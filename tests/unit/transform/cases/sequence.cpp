#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <vector>
class Rows {
public:
    Rows(MPI_Comm comm, int down, int up, int n, int m)
        : comm_(comm), down_(down), up_(up), n_(n), m_(m) {}
    void exchange(std::vector<double> &u)
    {
        int w = n_ + 2;
        MPI_Request r[4];
        MPI_Irecv(&u[1], n_, MPI_DOUBLE, down_, 2, comm_, &r[0]);
        MPI_Irecv(&u[(m_ + 1) * w + 1], n_, MPI_DOUBLE, up_, 1, comm_, &r[1]);
        MPI_Isend(&u[w + 1], n_, MPI_DOUBLE, down_, 1, comm_, &r[2]);
        MPI_Isend(&u[m_ * w + 1], n_, MPI_DOUBLE, up_, 2, comm_, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }

private:
    MPI_Comm comm_;
    int down_, up_, n_, m_;
};
class Columns {
public:
    Columns(MPI_Comm comm, int left, int right, int n, int m)
        : comm_(comm), left_(left), right_(right), n_(n), m_(m) {}
    void exchange(std::vector<double> &u)
    {
        int w = n_ + 2;
        double west[64], east[64], from_west[64], from_east[64];
        for (int j = 0; j < m_; j++) {
            west[j] = u[(j + 1) * w + 1];
            east[j] = u[(j + 1) * w + n_];
            from_west[j] = u[(j + 1) * w];
            from_east[j] = u[(j + 1) * w + n_ + 1];
        }
        MPI_Sendrecv(west, m_, MPI_DOUBLE, left_, 3, from_east, m_, MPI_DOUBLE, right_, 3, comm_,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(east, m_, MPI_DOUBLE, right_, 4, from_west, m_, MPI_DOUBLE, left_, 4, comm_,
                     MPI_STATUS_IGNORE);
        for (int j = 0; j < m_; j++) {
            u[(j + 1) * w] = from_west[j];
            u[(j + 1) * w + n_ + 1] = from_east[j];
        }
    }

private:
    MPI_Comm comm_;
    int left_, right_, n_, m_;
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int dims[2] = {0, 0}, periods[2] = {1, 0}, size, rank, left, right, down, up;
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_shift(comm, 0, 1, &down, &up);
    MPI_Cart_shift(comm, 1, 1, &left, &right);
    const int n = 50, m = 40, w = n + 2;
    Rows rows(comm, down, up, n, m);
    Columns columns(comm, left, right, n, m);
    std::vector<double> u(w * (m + 2)), v(w * (m + 2));
    for (int i = 0; i < w * (m + 2); i++) u[i] = std::sin(0.3 * i + rank);
    for (int it = 0; it < 12; it++) {
        rows.exchange(u);
        columns.exchange(u);
        for (int j = 1; j <= m; j++)
            for (int i = 1; i <= n; i++)
                v[j * w + i] = 0.25 * (u[(j - 1) * w + i] + u[(j + 1) * w + i] + u[j * w + i - 1] +
                                       u[j * w + i + 1]);
        for (int j = 1; j <= m; j++)
            for (int i = 1; i <= n; i++) u[j * w + i] = v[j * w + i];
    }
    double sum = 0, all;
    for (int j = 1; j <= m; j++)
        for (int i = 1; i <= n; i++) sum += u[j * w + i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == 0) std::printf("%.15g\n", all);
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
