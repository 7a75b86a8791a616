// A halo exchange whose requests are in a vector that push_back fills, and whose buffers are vectors.
#include <mpi.h>
#include <cstdio>
#include <vector>


class Plate {
public:
    Plate(int n, int m, int rank, int size) : n_(n), m_(m), u_((n + 2) * m), v_((n + 2) * m) {
        for (int i = m; i < (n + 1) * m; i++)
            u_[i] = (i * 7 + rank * 5) % 13;
        low_ = rank > 0 ? rank - 1 : -1;
        high_ = rank + 1 < size ? rank + 1 : -1;
    }

    void exchange() {
        std::vector<MPI_Request> requests;
        std::vector<double> in(2 * m_), out(2 * m_);
        MPI_Request request;
        requests.reserve(4);
        if (low_ >= 0) {
            MPI_Irecv(&in[0], m_, MPI_DOUBLE, low_, 0, MPI_COMM_WORLD, &request);
            requests.push_back(request);
        }
        if (high_ >= 0) {
            MPI_Irecv(&in[m_], m_, MPI_DOUBLE, high_, 1, MPI_COMM_WORLD, &request);
            requests.push_back(request);
        }
        for (int j = 0; j < m_; j++) {
            out[j] = u_[m_ + j];
            out[m_ + j] = u_[n_ * m_ + j];
        }
        if (low_ >= 0) {
            MPI_Isend(&out[0], m_, MPI_DOUBLE, low_, 1, MPI_COMM_WORLD, &request);
            requests.push_back(request);
        }
        if (high_ >= 0) {
            MPI_Isend(&out[m_], m_, MPI_DOUBLE, high_, 0, MPI_COMM_WORLD, &request);
            requests.push_back(request);
        }
        MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE);
        if (low_ >= 0)
            for (int j = 0; j < m_; j++)
                u_[j] = in[j];
        if (high_ >= 0)
            for (int j = 0; j < m_; j++)
                u_[(n_ + 1) * m_ + j] = in[m_ + j];
    }

    void relax() {
        for (int i = 1; i <= n_; i++)
            for (int j = 1; j < m_ - 1; j++)
                v_[i * m_ + j] = 0.25 * (u_[(i - 1) * m_ + j] + u_[(i + 1) * m_ + j] +
                                         u_[i * m_ + j - 1] + u_[i * m_ + j + 1]);
    }

    void copy() {
        for (int i = 1; i <= n_; i++)
            for (int j = 1; j < m_ - 1; j++)
                u_[i * m_ + j] = v_[i * m_ + j];
    }

    double sum() const {
        double s = 0.0;
        for (double x : u_)
            s = 0.5 * s + x;
        return s;
    }

private:
    int n_, m_, low_, high_;
    std::vector<double> u_, v_;
};

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Plate plate(24, 30, rank, size);
    for (int k = 0; k < 8; k++) {
        plate.exchange();
        plate.relax();
        plate.copy();
    }
    std::printf("%d %.17g\n", rank, plate.sum());
    MPI_Finalize();
    return 0;
}
