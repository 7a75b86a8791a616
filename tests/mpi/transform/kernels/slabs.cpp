// Two fields on slabs, each with a halo of its own class whose requests are members.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), v_((nx + 2) * ny), w_((nx + 2) * ny) {}
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    double *data() { return v_.data(); }
    double &at(int i, int j) { return v_[i * ny_ + j]; }
    void diffuse(double k) {
        for (int i = 1; i <= nx_; ++i)
            for (int j = 1; j < ny_ - 1; ++j)
                w_[i * ny_ + j] = v_[i * ny_ + j] + k * (v_[(i - 1) * ny_ + j] + v_[(i + 1) * ny_ + j] +
                                  v_[i * ny_ + j - 1] + v_[i * ny_ + j + 1] - 4 * v_[i * ny_ + j]);
        for (int i = 1; i <= nx_; ++i)
            for (int j = 1; j < ny_ - 1; ++j) v_[i * ny_ + j] = w_[i * ny_ + j];
    }

  private:
    int nx_, ny_;
    std::vector<double> v_, w_;
};

class Halo {
  public:
    Halo(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {
        int rank, size;
        MPI_Comm_rank(comm_, &rank);
        MPI_Comm_size(comm_, &size);
        up_ = (rank + size - 1) % size;
        down_ = (rank + 1) % size;
    }
    void begin(Field &f) {
        double *u = f.data();
        const int n = f.nx(), m = f.ny();
        MPI_Irecv(u, m, MPI_DOUBLE, up_, tag_, comm_, &requests_[0]);
        MPI_Irecv(u + (n + 1) * m, m, MPI_DOUBLE, down_, tag_ + 1, comm_, &requests_[1]);
        MPI_Isend(u + n * m, m, MPI_DOUBLE, down_, tag_, comm_, &requests_[2]);
        MPI_Isend(u + m, m, MPI_DOUBLE, up_, tag_ + 1, comm_, &requests_[3]);
    }
    void end() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }

  private:
    MPI_Comm comm_;
    int tag_, up_, down_;
    MPI_Request requests_[4];
};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Field t(20, 30), c(20, 30);
    for (int i = 0; i < 22; ++i)
        for (int j = 0; j < 30; ++j) {
            t.at(i, j) = std::cos(0.2 * (rank * 20 + i)) * j;
            c.at(i, j) = i * j % 11;
        }
    Halo ht(MPI_COMM_WORLD, 10), hc(MPI_COMM_WORLD, 20);
    for (int step = 0; step < 25; ++step) {
        ht.begin(t);
        ht.end();
        t.diffuse(0.1);
        hc.begin(c);
        hc.end();
        c.diffuse(0.2);
    }
    double sum = 0;
    for (int i = 1; i <= 20; ++i)
        for (int j = 0; j < 30; ++j) sum += t.at(i, j) * (1 + j % 4) + c.at(i, j);
    std::printf("rank %d sum %.12e\n", rank, sum);
    MPI_Finalize();
    return 0;
}
