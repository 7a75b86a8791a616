// Rows that are vectors: a grid with its halo, buffers of one neighbour each, sizes of vectors.
#include <cstdio>
#include <mpi.h>
#include <utility>
#include <vector>

typedef std::vector<std::vector<double>> Rows;

static void exchange(Rows &u, int n, int m, int up, int down)
{
    MPI_Sendrecv(u[1].data(), m, MPI_DOUBLE, up, 0, u[n + 1].data(), m, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[n][0], m, MPI_DOUBLE, down, 1, &u[0][0], m, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double grid(int rank, int up, int down)
{
    const int n = 40, m = 30;
    Rows u(n + 2, std::vector<double>(m)), v(n + 2, std::vector<double>(m, 0.0));
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = rank + (i * j) % 7;
    for (int t = 0; t < 6; t++) {
        exchange(u, n, m, up, down);
        for (int i = 1; i <= n; i++)
            for (int j = 1; j < m - 1; j++)
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        std::swap(u, v);
    }
    double sum = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < m; j++)
            sum += u[i][j];
    return sum;
}

class Mesh {
  public:
    Mesh(int n, int rank) : n_(n), u_(n, 1.0 + rank), r_(n, 0.0) {}
    void add(int peer, int first)
    {
        ranks_.push_back(peer);
        lists_.push_back(std::vector<int>(10));
        send_.push_back(std::vector<double>(10));
        recv_.push_back(std::vector<double>(10, 0.0));
        for (int i = 0; i < 10; i++)
            lists_[lists_.size() - 1][i] = first + 2 * i;
    }
    void exchange()
    {
        int count = ranks_.size();
        std::vector<MPI_Request> requests(2 * count);
        for (int k = 0; k < count; k++)
            MPI_Irecv(recv_[k].data(), recv_[k].size(), MPI_DOUBLE, ranks_[k], 2, MPI_COMM_WORLD,
                      &requests[k]);
        for (int k = 0; k < count; k++) {
            for (size_t i = 0; i < lists_[k].size(); i++)
                send_[k][i] = u_[lists_[k][i]];
            MPI_Isend(send_[k].data(), send_[k].size(), MPI_DOUBLE, ranks_[k], 2, MPI_COMM_WORLD,
                      &requests[count + k]);
        }
        MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
    }
    void step()
    {
        exchange();
        for (int i = 1; i < n_ - 1; i++)
            r_[i] = 0.5 * (u_[i - 1] + u_[i + 1]) - u_[i];
        for (size_t k = 0; k < ranks_.size(); k++)
            for (size_t i = 0; i < lists_[k].size(); i++)
                r_[lists_[k][i]] += 0.1 * recv_[k][i];
        for (int i = 0; i < n_; i++)
            u_[i] += 0.3 * r_[i];
    }
    double sum() const
    {
        double sum = 0;
        for (int i = 0; i < n_; i++)
            sum += u_[i];
        return sum;
    }

  private:
    int n_;
    std::vector<double> u_, r_;
    std::vector<int> ranks_;
    std::vector<std::vector<int>> lists_;
    Rows send_, recv_;
};

static void ends(std::vector<double> &f, int left, int right)
{
    MPI_Request r[4];
    MPI_Irecv(&f[0], 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&f[f.size() - 1], 1, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&f[1], 1, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&f[f.size() - 2], 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void relax(const std::vector<double> &f, std::vector<double> &g)
{
    for (size_t i = 1; i < f.size() - 1; i++)
        g[i] = f[i] + 0.1 * (f[i - 1] - 2.0 * f[i] + f[i + 1]);
}

static double line(int n, int rank, int left, int right)
{
    std::vector<double> f(n + 2), g(n + 2, 0.0);
    for (int i = 0; i < n + 2; i++)
        f[i] = (rank + i) % 5;
    for (int t = 0; t < 6; t++) {
        ends(f, left, right);
        relax(f, g);
        f.swap(g);
    }
    double sum = 0;
    for (int i = 1; i <= n; i++)
        sum += f[i];
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int below = rank ? rank - 1 : MPI_PROC_NULL, above = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    Mesh mesh(100, rank);
    if (rank > 0)
        mesh.add(rank - 1, 0);
    if (rank < size - 1)
        mesh.add(rank + 1, 50);
    for (int t = 0; t < 6; t++)
        mesh.step();
    std::printf("%d: %.10g %.10g %.10g\n", rank, grid(rank, below, above), mesh.sum(),
                line(200, rank, below, above));
    MPI_Finalize();
    return 0;
}
