// A method that only calls the exchange of each field, which is nonblocking by itself.
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <vector>
class Model {
public:
    Model(int nx, int ny, int rank, int size)
        : nx(nx), ny(ny), u((nx + 2) * (ny + 2)), p((nx + 2) * (ny + 2)), v((nx + 2) * (ny + 2)), q((nx + 2) * (ny + 2))
    {
        up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
        for (int i = 0; i < (nx + 2) * (ny + 2); i++) {
            u[i] = std::sin(0.1 * i + rank);
            p[i] = std::cos(0.2 * i + rank);
        }
    }
    void exchange(std::vector<double> &a)
    {
        const int w = nx + 2;
        MPI_Request r[4];
        MPI_Irecv(&a[0], w, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&a[(ny + 1) * w], w, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(&a[w], w, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&a[ny * w], w, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    void exchange_all()
    {
        exchange(u);
        exchange(p);
    }
    void step()
    {
        const int w = nx + 2;
        exchange_all();
        for (int j = 1; j <= ny; j++)
            for (int i = 1; i <= nx; i++) {
                v[j * w + i] = 0.25 * (u[(j - 1) * w + i] + u[(j + 1) * w + i] + p[j * w + i]);
                q[j * w + i] = 0.25 * (p[(j - 1) * w + i] + p[(j + 1) * w + i] + u[j * w + i]);
            }
        for (int j = 1; j <= ny; j++)
            for (int i = 1; i <= nx; i++) {
                u[j * w + i] = v[j * w + i];
                p[j * w + i] = q[j * w + i];
            }
    }
    double sum() const
    {
        double s = 0;
        for (double x : u) s += x;
        for (double x : p) s += x;
        return s;
    }
private:
    int nx, ny, up, down;
    std::vector<double> u, p, v, q;
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Model m(50, 40, rank, size);
    for (int it = 0; it < 10; it++) m.step();
    double s = m.sum(), t;
    MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%.15g\n", t);
    MPI_Finalize();
}
