// A fluid whose cells are structures in a vector; rows of them are sent as numbers and as bytes.
#include <mpi.h>
#include <cstdio>
#include <utility>
#include <vector>

struct Cell { double rho, u, v; };

class Fluid {
public:
    Fluid(int nx, int ny, int up, int down)
        : nx_(nx), ny_(ny), up_(up), down_(down), now_(nx * (ny + 2)), next_(nx * (ny + 2))
    {
    }
    Cell &at(int j, int i) { return now_[j * nx_ + i]; }

    void exchange()
    {
        MPI_Sendrecv(&now_[nx_], 3 * nx_, MPI_DOUBLE, up_, 0, &now_[(ny_ + 1) * nx_], 3 * nx_,
                     MPI_DOUBLE, down_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now_[ny_ * nx_], nx_ * sizeof(Cell), MPI_BYTE, down_, 1, &now_[0],
                     nx_ * sizeof(Cell), MPI_BYTE, up_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void step(double dt)
    {
        for (int j = 1; j <= ny_; j++)
            for (int i = 1; i < nx_ - 1; i++) {
                int k = j * nx_ + i;
                next_[k] = now_[k];
                next_[k].rho += dt * (now_[k - nx_].rho + now_[k + nx_].rho - 2 * now_[k].rho);
                next_[k].u = 0.5 * (now_[k - 1].u + now_[k + 1].u);
            }
    }

    void turn() { std::swap(now_, next_); }

    double sum()
    {
        double s = 0;
        for (int j = 1; j <= ny_; j++)
            for (int i = 0; i < nx_; i++)
                s += at(j, i).rho + 2 * at(j, i).u + 3 * at(j, i).v;
        return s;
    }

private:
    int nx_, ny_, up_, down_;
    std::vector<Cell> now_, next_;
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int nx = 100, ny = 60;
    Fluid fluid(nx, ny, (rank + size - 1) % size, (rank + 1) % size);
    for (int j = 1; j <= ny; j++)
        for (int i = 0; i < nx; i++) {
            fluid.at(j, i).rho = (i * j + rank) % 7;
            fluid.at(j, i).u = i % 3;
            fluid.at(j, i).v = 1;
        }
    for (int s = 0; s < 20; s++) {
        fluid.exchange();
        fluid.step(0.1);
        fluid.turn();
    }
    double mine = fluid.sum(), total = 0;
    MPI_Reduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%.12f\n", total);
    MPI_Finalize();
}
