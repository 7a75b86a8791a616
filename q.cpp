#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>
#define AT(i, j) ((i) * (nx + 2) + (j))
static int rank, peer;

static double total_6000018;
class Heat6000018;
static void note_6000018(Heat6000018 &h);
class Heat6000018 {
  public:
    explicit Heat6000018(int first) : nx(11), ny(10), counted(0), largest(0.0), u(300), v(300)
    {
        for (int i = 0; i < 300; i++) {
            u[i] = (i * 7 + rank * 5 + first) % 23 / 8.0;
            v[i] = (i * 3 + rank) % 11 / 4.0;
        }
        for (int i = 0; i < 16; i++)
            edge[i] = i;
    }
    void exchange()
    {
        MPI_Sendrecv(&u[AT(1, 1)], nx, MPI_DOUBLE, peer, 0, &u[AT(ny + 1, 1)], nx, MPI_DOUBLE,
                     peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[AT(ny, 1)], nx, MPI_DOUBLE, peer, 1, &u[AT(0, 1)], nx, MPI_DOUBLE, peer,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        u[AT(0, 0)] = counted;
    }
    void step()
    {
        double s;
        for (int i = 1; i <= ny - 1; i++)
            for (int j = 1; j <= nx; j++)
                { s = u[AT(i - 1, j)]; v[AT(i, j)] = s * 0.5; }
        total_6000018 += s;
    }
    void turn() { std::swap(u, v); }
    int nx, ny, counted;
    double largest;
    std::vector<double> u, v;
    double edge[16];
};
static void note_6000018(Heat6000018 &h)
{
    h.counted += 2;
    h.v[20] = total_6000018;
}
static void program_6000018(std::FILE *out)
{
    Heat6000018 h(1), g(3);
    Heat6000018 *p = &h;
    for (int t = 0; t < 5; t++) {
        p->exchange();
        p->ny = 10 - p->ny % 2;
        p->step();
        p = p == &h ? &g : &h;
    }
    for (int k = 0; k < 6; k++) {
        const Heat6000018 &of = k % 2 ? g : h;
        double sum = k < 2 ? total_6000018 + of.counted + of.largest + of.nx + of.ny : 0.0;
        for (int i = 0; i < 300; i++)
            sum += (k < 4 ? of.u[i] : of.v[i]) * (1 + i % 13);
        std::fprintf(out, "program 6000018 rank %d array %d %.17g\n", rank, k, sum);
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    std::FILE *out = std::fopen(rank ? "rank1.txt" : "rank0.txt", "a");
    program_6000018(out);
    std::fclose(out);
    MPI_Finalize();
    return 0;
}
