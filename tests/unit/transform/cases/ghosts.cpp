// Particles of a class, with those near the borders of both neighbours: how many, then which.
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Particle {
    double x, v, f;
};

class Domain {
  public:
    Domain(double lo, double hi, int left, int right) : lo_(lo), hi_(hi), left_(left), right_(right) {}
    double lo() const { return lo_; }
    double hi() const { return hi_; }
    int left() const { return left_; }
    int right() const { return right_; }

  private:
    double lo_, hi_;
    int left_, right_;
};

class System {
  public:
    System(const Domain &domain, int n) : domain_(domain)
    {
        for (int i = 0; i < n; i++) {
            Particle p;
            p.x = domain.lo() + (i + 0.5) * (domain.hi() - domain.lo()) / n;
            p.v = 0.01 * (i % 7 - 3);
            p.f = 0.0;
            particles_.push_back(p);
        }
        ghost_left_.resize(n);
        ghost_right_.resize(n);
        out_left_.resize(n);
        out_right_.resize(n);
    }
    void exchange_ghosts()
    {
        int nl = 0, nr = 0, gl = 0, gr = 0;
        for (size_t i = 0; i < particles_.size(); i++) {
            if (particles_[i].x < domain_.lo() + 0.2) out_left_[nl++] = particles_[i].x;
            if (particles_[i].x > domain_.hi() - 0.2) out_right_[nr++] = particles_[i].x;
        }
        MPI_Sendrecv(&nl, 1, MPI_INT, domain_.left(), 0, &gr, 1, MPI_INT, domain_.right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&nr, 1, MPI_INT, domain_.right(), 1, &gl, 1, MPI_INT, domain_.left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request requests[4];
        MPI_Irecv(ghost_right_.data(), gr, MPI_DOUBLE, domain_.right(), 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(ghost_left_.data(), gl, MPI_DOUBLE, domain_.left(), 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out_left_.data(), nl, MPI_DOUBLE, domain_.left(), 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out_right_.data(), nr, MPI_DOUBLE, domain_.right(), 3, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        nghost_left_ = gl;
        nghost_right_ = gr;
    }
    void local_forces()
    {
        const int n = static_cast<int>(particles_.size());
        for (int i = 0; i < n; i++) {
            double f = 0.0;
            for (int j = 0; j < n; j++) {
                const double d = particles_[i].x - particles_[j].x;
                if (i != j && std::fabs(d) < 0.2) f += 0.001 / (d + (d > 0 ? 0.05 : -0.05));
            }
            particles_[i].f = f;
        }
    }
    void ghost_forces()
    {
        const int n = static_cast<int>(particles_.size());
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < nghost_left_; j++) {
                const double d = particles_[i].x - ghost_left_[j];
                if (std::fabs(d) < 0.2) particles_[i].f += 0.001 / (d + 0.05);
            }
            for (int j = 0; j < nghost_right_; j++) {
                const double d = particles_[i].x - ghost_right_[j];
                if (std::fabs(d) < 0.2) particles_[i].f += 0.001 / (d - 0.05);
            }
        }
    }
    void integrate(double dt)
    {
        for (auto &p : particles_) {
            p.v += dt * p.f;
            p.x += dt * p.v;
        }
    }
    double energy() const
    {
        double e = 0.0;
        for (const auto &p : particles_) e += 0.5 * p.v * p.v;
        double total = 0.0;
        MPI_Allreduce(&e, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return total;
    }

  private:
    const Domain &domain_;
    std::vector<Particle> particles_;
    std::vector<double> ghost_left_, ghost_right_, out_left_, out_right_;
    int nghost_left_ = 0, nghost_right_ = 0;
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Domain domain(rank, rank + 1.0, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < size - 1 ? rank + 1 : MPI_PROC_NULL);
    System system(domain, argc > 1 ? 200 : 100);
    for (int step = 0; step < 20; step++) {
        system.exchange_ghosts();
        system.local_forces();
        system.ghost_forces();
        system.integrate(0.01);
        if (step % 5 == 0) {
            double e = system.energy();
            if (rank == 0) std::printf("%d %.12g\n", step, e);
        }
    }
    MPI_Finalize();
    return 0;
}
