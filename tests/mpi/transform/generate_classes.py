"""Whole random programs of C++ whose data are members of objects: see random_classes.py."""

from __future__ import annotations

from random_classes import LENGTH, methods  # type: ignore[import-not-found]

HEAD = """#include <mpi.h>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>
namespace {
const int N = %d;
int rank;
struct Inner {
    double x[N];
    int tag;
};
template <class T> class Tile {
  public:
    explicit Tile(int n) : n_(n), data_(n) {}
    T &operator[](int i) { return data_[i]; }
    const T &operator[](int i) const { return data_[i]; }
    T &operator()(int i, int j) { return data_[i * width() + j]; }
    T *data() { return data_.data(); }
    const T *data() const { return data_.data(); }
    int size() const { return n_; }
    int width() const { return n_ / 4; }
    void scale(T by)
    {
        for (int j = 0; j < width(); j++)
            for (int i = 0; i < 4; i++)
                (*this)(i, j) = by * (*this)(i, j) + T(0.25);
    }

  private:
    int n_;
    std::vector<T> data_;
};
template <class T> void lower(Tile<T> &tile, const T *x)
{
    for (int i = 0; i < tile.size(); i++)
        tile[i] = T(0.5) * (tile[i] + x[i]);
}
class Base {
  public:
    std::vector<double> w;
    Base() : w(N) {}
    void mark_base() { w[2] = 0.25; }
};
class Grid : public Base {
  public:
    std::vector<double> u, v;
    double e[N], f[N];
    Inner inner;
    int nx, peer;
    double s, t;
    std::vector<MPI_Request> r;
    MPI_Request q[4];
    std::array<MPI_Request, 4> z;
    std::vector<double> rows[2];
    std::array<std::vector<double>, 2> both;
    std::array<double, N> g;
    Tile<double> tile;
    explicit Grid(int first = 1);
    void smooth();
    void mark() { u[3] = 0.5 * s; inner.x[N - 1] = 0.5 * t; }
    void blend(const std::vector<double> &x);
    static void blur(std::vector<double> &x, const std::vector<double> &y);
    void check(int number, std::FILE *out) const;
    double sum(const double *x) const;
%s};
Grid::Grid(int first) : u(N, 0.0), v(N), nx(N), peer(1 - rank), s(0.0), t(0.0),
    r(4, MPI_REQUEST_NULL), tile(N)
{
    inner.tag = 9;
    z.fill(MPI_REQUEST_NULL);
    for (int i = 0; i < 2; i++) {
        rows[i].resize(N);
        both[i].resize(N);
    }
    for (int i = 0; i < N; i++) {
        u[i] = (i * 7 + first + rank * 5) %% 32 / 32.0;
        v[i] = (i * 7 + first + 3 + rank * 5) %% 32 / 32.0;
        e[i] = (i * 7 + first + 6 + rank * 5) %% 32 / 32.0;
        f[i] = (i * 7 + first + 9 + rank * 5) %% 32 / 32.0;
        w[i] = (i * 7 + first + 15 + rank * 5) %% 32 / 32.0;
        inner.x[i] = (i * 7 + first + 12 + rank * 5) %% 32 / 32.0;
        rows[0][i] = (i * 5 + first + rank * 5) %% 32 / 32.0;
        rows[1][i] = (i * 5 + first + 3 + rank * 5) %% 32 / 32.0;
        both[1][i] = (i * 5 + first + 6 + rank * 5) %% 32 / 32.0;
        g[i] = (i * 5 + first + 9 + rank * 5) %% 32 / 32.0;
        tile[i] = (i * 5 + first + 12 + rank * 5) %% 32 / 32.0;
    }
    for (int i = 0; i < 4; i++)
        q[i] = MPI_REQUEST_NULL;
}
double Grid::sum(const double *x) const
{
    double found = 0.0;
    for (int i = 0; i < N; i++)
        found = 0.99609375 * found + x[i] * (1 + i %% 13);
    return found;
}
void Grid::check(int number, std::FILE *out) const
{
    std::fprintf(out, "%%d %%d %%.17g %%.17g %%.17g %%.17g ", number, rank, sum(u.data()),
        sum(v.data()), sum(w.data()), sum(e));
    std::fprintf(out, "%%.17g %%.17g %%.17g %%.17g ", sum(rows[0].data()), sum(&rows[1][0]),
        sum(both[1].data()), sum(g.data()));
    std::fprintf(out, "%%.17g %%.17g %%.17g %%.17g %%.17g\\n", sum(tile.data()), sum(f),
        sum(inner.x), s, t);
}
void Grid::smooth()
{
    for (int i = 0; i < N; i++)
        v[i] = 0.5 * v[i] + 0.25 * e[i];
}
void Grid::blend(const std::vector<double> &x)
{
    for (int i = 0; i < N; i++)
        f[i] = 0.5 * f[i] + 0.25 * x[i] + 0.125 * s;
}
void Grid::blur(std::vector<double> &x, const std::vector<double> &y)
{
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = 0.5 * (x[i] + y[i]);
}
Grid global(1), many[3];
void work(double *x, int m)
{
    for (int i = 0; i < m; i++)
        x[i] = 0.5 * x[i] + 0.25;
}
void mix(double *x, const double *y)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * (x[i] + y[i]);
}
void touch(Grid &grid)
{
    grid.u[7] = 0.5 * grid.u[7] + 0.25 * grid.s;
}
"""
MAIN = """}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::FILE *out = std::fopen(rank ? "rank1.txt" : "rank0.txt", "a");
    global.peer = many[0].peer = many[1].peer = many[2].peer = 1 - rank;
%s    std::fclose(out);
    MPI_Finalize();
    return 0;
}
"""
CALLS = """    {
        Grid mine(5), other(6);
        mine.p%(seed)d(other);
        mine.check(%(seed)d, out);
        other.check(%(seed)d, out);
        global.check(%(seed)d, out);
        many[0].check(%(seed)d, out);
        many[1].check(%(seed)d, out);
        many[2].check(%(seed)d, out);
    }
"""


def source(seeds: list[int]) -> str:
    """One program that runs the random methods of each seed in turn."""
    made = [methods(seed) for seed in seeds]
    head = HEAD % (LENGTH, "".join(heads for heads, _ in made))
    bodies = "".join(text for _, text in made)
    return head + bodies + MAIN % "".join(CALLS % {"seed": seed} for seed in seeds)
