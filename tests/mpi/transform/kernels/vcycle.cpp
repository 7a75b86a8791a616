// V-cycles in one dimension on a hierarchy of levels, as multigrid proxies do.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct Level {
    int n;
    double h2;
    std::vector<double> u, f, r;
    MPI_Request reqs[4];
    int nreq;
    explicit Level(int m) : n(m), h2(1.0), u(m + 2, 0.0), f(m + 2, 0.0), r(m + 2, 0.0), nreq(0) {}
};

class Multigrid {
  public:
    Multigrid(MPI_Comm comm, int n, int levels) : comm_(comm) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        left_ = rank_ == 0 ? MPI_PROC_NULL : rank_ - 1;
        right_ = rank_ == size_ - 1 ? MPI_PROC_NULL : rank_ + 1;
        for (int l = 0; l < levels; ++l) levels_.push_back(Level(n >> l));
        double h = 1.0 / (n * size_);
        for (int l = 0; l < levels; ++l) levels_[l].h2 = h * h * (1 << (2 * l));
    }
    Level &finest() { return levels_[0]; }
    int rank() const { return rank_; }
    int size() const { return size_; }

    void vcycle() {
        int last = (int)levels_.size() - 1;
        for (int l = 0; l < last; ++l) {
            smooth(levels_[l], 3);
            residual(levels_[l]);
            restrict_to(levels_[l], levels_[l + 1]);
        }
        smooth(levels_[last], 20);
        for (int l = last - 1; l >= 0; --l) {
            prolong(levels_[l + 1], levels_[l]);
            smooth(levels_[l], 3);
        }
    }
    double norm() {
        Level &l = levels_[0];
        residual(l);
        double mine = 0, all = 0;
        for (int i = 1; i <= l.n; ++i) mine += l.r[i] * l.r[i];
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
        return std::sqrt(all);
    }

  private:
    void exchange(std::vector<double> &v, int n) {
        MPI_Request reqs[4];
        MPI_Irecv(&v[0], 1, MPI_DOUBLE, left_, 1, comm_, &reqs[0]);
        MPI_Irecv(&v[n + 1], 1, MPI_DOUBLE, right_, 2, comm_, &reqs[1]);
        MPI_Isend(&v[1], 1, MPI_DOUBLE, left_, 2, comm_, &reqs[2]);
        MPI_Isend(&v[n], 1, MPI_DOUBLE, right_, 1, comm_, &reqs[3]);
        MPI_Waitall(4, reqs, MPI_STATUSES_IGNORE);
    }
    void smooth(Level &l, int times) {
        double *u = l.u.data();
        const double *f = l.f.data();
        double *t = l.r.data();
        for (int k = 0; k < times; ++k) {
            exchange(l.u, l.n);
            for (int i = 1; i <= l.n; ++i)
                t[i] = u[i] + 0.6 * 0.5 * (l.h2 * f[i] + u[i - 1] + u[i + 1] - 2 * u[i]);
            for (int i = 1; i <= l.n; ++i) u[i] = t[i];
        }
    }
    void residual(Level &l) {
        exchange(l.u, l.n);
        for (int i = 1; i <= l.n; ++i)
            l.r[i] = l.f[i] + (l.u[i - 1] - 2 * l.u[i] + l.u[i + 1]) / l.h2;
    }
    void restrict_to(Level &fine, Level &coarse) {
        exchange(fine.r, fine.n);
        for (int i = 1; i <= coarse.n; ++i) {
            coarse.f[i] = 0.25 * (fine.r[2 * i - 2] + 2 * fine.r[2 * i - 1] + fine.r[2 * i]);
            coarse.u[i] = 0.0;
        }
        coarse.u[0] = coarse.u[coarse.n + 1] = 0.0;
    }
    void prolong(Level &coarse, Level &fine) {
        exchange(coarse.u, coarse.n);
        for (int i = 1; i <= coarse.n; ++i) {
            fine.u[2 * i - 1] += coarse.u[i];
            fine.u[2 * i] += 0.5 * (coarse.u[i] + coarse.u[i + 1]);
        }
    }
    MPI_Comm comm_;
    int rank_, size_, left_, right_;
    std::vector<Level> levels_;
};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Multigrid mg(MPI_COMM_WORLD, 128, 4);
    Level &l = mg.finest();
    for (int i = 1; i <= l.n; ++i) l.f[i] = std::sin(3.1415926 * (mg.rank() * l.n + i) / (l.n * mg.size()));
    for (int c = 0; c < 6; ++c) {
        mg.vcycle();
        double norm = mg.norm();
        if (mg.rank() == 0) std::printf("cycle %d norm %.8e\n", c, norm);
    }
    double sum = 0;
    for (int i = 1; i <= l.n; ++i) sum += l.u[i] * (1 + i % 7);
    std::printf("rank %d sum %.12e\n", mg.rank(), sum);
    MPI_Finalize();
    return 0;
}
