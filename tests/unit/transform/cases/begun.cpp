// A field on slabs that relaxes between two vectors; its halo is an object that begins and ends
// exchanges, alone and as one call.
#include <mpi.h>

#include <cstdio>
#include <vector>

class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), u_((nx + 2) * ny), v_((nx + 2) * ny) {}
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    double *data() { return u_.data(); }
    double *next() { return v_.data(); }
    double &operator()(int i, int j) { return u_[i * ny_ + j]; }
    double operator()(int i, int j) const { return u_[i * ny_ + j]; }
    void relax() {
        for (int i = 1; i <= nx_; ++i)
            for (int j = 1; j < ny_ - 1; ++j)
                v_[i * ny_ + j] = 0.25 * (u_[(i - 1) * ny_ + j] + u_[(i + 1) * ny_ + j] +
                                         u_[i * ny_ + j - 1] + u_[i * ny_ + j + 1]);
    }
    void back() {
        for (int i = 1; i <= nx_; ++i)
            for (int j = 1; j < ny_ - 1; ++j)
                u_[i * ny_ + j] = 0.5 * (v_[(i - 1) * ny_ + j] + v_[(i + 1) * ny_ + j]);
    }

  private:
    int nx_, ny_;
    std::vector<double> u_, v_;
};

class Halo {
  public:
    explicit Halo(MPI_Comm comm) : comm_(comm) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        up_ = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
        down_ = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
    }
    int rank() const { return rank_; }
    void begin(double *u, int n, int m) {
        MPI_Irecv(u, m, MPI_DOUBLE, up_, 0, comm_, &requests_[0]);
        MPI_Irecv(u + (n + 1) * m, m, MPI_DOUBLE, down_, 1, comm_, &requests_[1]);
        MPI_Isend(u + n * m, m, MPI_DOUBLE, down_, 0, comm_, &requests_[2]);
        MPI_Isend(u + m, m, MPI_DOUBLE, up_, 1, comm_, &requests_[3]);
    }
    void end() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }
    void exchange(Field &f) {
        begin(f.next(), f.nx(), f.ny());
        end();
    }

  private:
    MPI_Comm comm_;
    int rank_, size_, up_, down_;
    MPI_Request requests_[4];
};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Halo halo(MPI_COMM_WORLD);
    Field f(20, 30);
    for (int i = 0; i < 22; ++i)
        for (int j = 0; j < 30; ++j) f(i, j) = (halo.rank() * 20 + i) * j % 17;
    for (int step = 0; step < 10; ++step) {
        halo.begin(f.data(), f.nx(), f.ny());
        halo.end();
        f.relax();
        halo.exchange(f);
        f.back();
    }
    double sum = 0;
    for (int i = 1; i <= 20; ++i)
        for (int j = 0; j < 30; ++j) sum += f(i, j) * (1 + j % 4);
    std::printf("rank %d sum %.12e\n", halo.rank(), sum);
    MPI_Finalize();
    return 0;
}
