#include <mpi.h>
#include <cstdio>
#include <vector>

class Field
{
public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), u_((nx + 2) * (ny + 2)), v_((nx + 2) * (ny + 2)) {}

    double &operator()(int i, int j) { return u_[i * (ny_ + 2) + j]; }

    void exchange(int up, int down)
    {
        MPI_Sendrecv(&u_[nx_ * (ny_ + 2) + 1], ny_, MPI_DOUBLE, up, 0, &u_[1], ny_, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u_[(ny_ + 2) + 1], ny_, MPI_DOUBLE, down, 1, &u_[(nx_ + 1) * (ny_ + 2) + 1], ny_, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void sweep()
    {
        for (std::size_t i = 1; i <= nx_; i++) {
            for (std::size_t j = 1; j <= ny_; j++) {
                v_[i * (ny_ + 2) + j] = 0.25 * (u_[(i - 1) * (ny_ + 2) + j] + u_[(i + 1) * (ny_ + 2) + j] + u_[i * (ny_ + 2) + j - 1] + u_[i * (ny_ + 2) + j + 1]);
            }
        }
    }

    void update()
    {
        for (std::size_t i = 1; i <= nx_; i++) {
            for (std::size_t j = 1; j <= ny_; j++) {
                u_[i * (ny_ + 2) + j] = v_[i * (ny_ + 2) + j];
            }
        }
    }

    double sum() const
    {
        double s = 0.0;
        for (std::size_t i = 1; i <= nx_; i++)
            for (std::size_t j = 1; j <= ny_; j++)
                s += u_[i * (ny_ + 2) + j];
        return s;
    }

private:
    std::size_t nx_, ny_;
    std::vector<double> u_, v_;
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Field f(60, 40);
        for (int i = 0; i < 62; i++)
            for (int j = 0; j < 42; j++)
                f(i, j) = 0.1 * i + j + rank;
        for (int t = 0; t < 10; t++) {
            f.exchange((rank + 1) % size, (rank + size - 1) % size);
            f.sweep();
            f.update();
        }
        double s = f.sum(), all;
        MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("%.12e\n", all);
    }
    MPI_Finalize();
    return 0;
}
