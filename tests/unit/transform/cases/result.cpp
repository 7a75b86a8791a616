// A step that returns the largest change and exchanges its fields: what the interior has found
// goes on in the boundary, and the exchange of the fields stays behind that.
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

class Heat {
public:
    Heat(int rows, int columns, int rank, int size)
        : nx(rows), ny(columns), up(rank > 0 ? rank - 1 : MPI_PROC_NULL),
          down(rank + 1 < size ? rank + 1 : MPI_PROC_NULL), u((rows + 2) * (columns + 2), 0.0), v(u)
    {
        for (int i = 1; i <= nx; i++)
            for (int j = 1; j <= ny; j++)
                u[at(i, j)] = (i * 7 + j * 3 + rank * 5) % 11;
    }

    int at(int i, int j) const { return i * (ny + 2) + j; }

    void exchange()
    {
        MPI_Sendrecv(&u[at(1, 0)], ny + 2, MPI_DOUBLE, up, 0, &u[at(nx + 1, 0)], ny + 2, MPI_DOUBLE,
                     down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[at(nx, 0)], ny + 2, MPI_DOUBLE, down, 1, &u[at(0, 0)], ny + 2, MPI_DOUBLE,
                     up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    double step()
    {
        steps++;
        double change = 0.0;
        for (int i = 1; i <= nx; i++)
            for (int j = 1; j <= ny; j++) {
                double mean = u[at(i - 1, j)] + u[at(i + 1, j)] + u[at(i, j - 1)] + u[at(i, j + 1)];
                v[at(i, j)] = 0.25 * mean;
                double difference = std::fabs(v[at(i, j)] - u[at(i, j)]);
                if (difference > change)
                    change = difference;
            }
        std::swap(u, v);
        return std::sqrt(change);
    }

    int steps = 0;

private:
    int nx, ny, up, down;
    std::vector<double> u, v;
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Heat heat(40, 50, rank, size);
        double every = 0.0;
        for (int k = 0; k < 20; k++) {
            heat.exchange();
            double change = heat.step();
            MPI_Allreduce(&change, &every, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (rank == 0)
                std::printf("%d %.17g\n", heat.steps, every);
        }
    }
    MPI_Finalize();
    return 0;
}
