// A wave function on rows of a ring of ranks: complex numbers in vectors, by explicit steps.
#include <mpi.h>

#include <complex>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

using Complex = std::complex<double>;

class Wave {
  public:
    Wave(int rows, int columns, int rank, int size)
        : nx_(rows), ny_(columns), up_((rank + 1) % size), down_((rank + size - 1) % size),
          psi_((rows + 2) * columns), next_((rows + 2) * columns), field_((rows + 2) * columns)
    {
        for (int i = 0; i < (nx_ + 2) * ny_; i++) {
            double x = 0.01 * (i + 17 * rank);
            psi_[i] = std::polar(std::exp(-0.001 * x * x), 0.3 * x);
            field_[i] = 0.5 * std::sin(x);
        }
    }

    void exchange()
    {
        MPI_Sendrecv(&psi_[nx_ * ny_], ny_, MPI_CXX_DOUBLE_COMPLEX, up_, 0, &psi_[0], ny_,
                     MPI_CXX_DOUBLE_COMPLEX, down_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&psi_[ny_], ny_, MPI_CXX_DOUBLE_COMPLEX, down_, 1, &psi_[(nx_ + 1) * ny_],
                     ny_, MPI_CXX_DOUBLE_COMPLEX, up_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void advance(double step)
    {
        const Complex turn(0.0, -step);
        for (int i = 1; i <= nx_; i++)
            for (int j = 1; j < ny_ - 1; j++) {
                Complex sum = psi_[(i - 1) * ny_ + j] + psi_[(i + 1) * ny_ + j];
                sum += psi_[i * ny_ + j - 1] + psi_[i * ny_ + j + 1] - 4.0 * psi_[i * ny_ + j];
                Complex h = -0.5 * sum + field_[i * ny_ + j] * psi_[i * ny_ + j];
                next_[i * ny_ + j] = psi_[i * ny_ + j] + turn * h;
            }
        for (int i = 1; i <= nx_; i++)
            for (int j = 1; j < ny_ - 1; j++)
                psi_[i * ny_ + j] = next_[i * ny_ + j];
    }

    double norm() const
    {
        double sum = 0.0;
        for (int i = ny_; i < (nx_ + 1) * ny_; i++)
            sum += std::norm(psi_[i]) + 0.25 * psi_[i].real() * std::imag(psi_[i]);
        return sum;
    }

  private:
    int nx_, ny_, up_, down_;
    std::vector<Complex> psi_, next_;
    std::vector<double> field_;
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Wave wave(24, 40, rank, size);
        for (int step = 0; step < 12; step++) {
            wave.exchange();
            wave.advance(0.01);
        }
        double mine = wave.norm(), all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("norm %.12e\n", all);
    }
    MPI_Finalize();
    return 0;
}
