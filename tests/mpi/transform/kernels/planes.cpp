// Planes by an element of a vector, by a member, by a reference and by a pointer that owns.
#include "planes.hpp"

#include <cstdio>
#include <memory>

class Pair {
public:
    Pair(int n, MPI_Comm comm) : left_(n, 2 * n, 3, comm), right_(n + 3, n, 4, comm) {}

    void advance()
    {
        this->left_.exchange();
        this->left_.step();
        left_.turn();
        right_.exchange();
        right_.step();
        right_.turn();
    }

    double sum() const { return left_.sum() + 3.0 * right_.sum(); }

private:
    Plane left_, right_;
};

static double of_vector(int steps)
{
    std::vector<Plane> planes;
    for (int k = 0; k < 3; k++)
        planes.emplace_back(20 + k, 15 - k, k, MPI_COMM_WORLD);
    for (int t = 0; t < steps; t++) {
        for (std::size_t k = 0; k < planes.size(); k++) {
            planes[k].exchange();
            planes[k].step();
            planes[k].turn();
        }
        for (auto &plane : planes) {
            plane.exchange();
            plane.step();
            plane.turn();
        }
    }
    double found = 0.0;
    for (const auto &plane : planes)
        found = 2.0 * found + plane.sum();
    return found;
}

static double of_pointer(int steps)
{
    auto owned = std::make_unique<Plane>(9, 30, 5, MPI_COMM_WORLD);
    Plane many[2] = {Plane(8, 2, 1, MPI_COMM_WORLD), Plane(11, 1, 2, MPI_COMM_WORLD)};
    for (int t = 0; t < steps; t++) {
        owned->exchange();
        owned->step();
        owned->turn();
        Plane &now = many[t % 2];
        now.exchange();
        now.step();
        now.turn();
        many[(t + 1) % 2].exchange();
        many[(t + 1) % 2].step();
        many[(t + 1) % 2].turn();
    }
    return owned->sum() + 7.0 * many[0].sum() + 11.0 * many[1].sum();
}

static double of_ring(int steps)
{
    ring_t ring;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring.n = 50;
    ring.left = (rank + size - 1) % size;
    ring.right = (rank + 1) % size;
    ring.u.resize(ring.n + 2);
    ring.v.resize(ring.n + 2);
    for (int i = 1; i <= ring.n; i++)
        ring.u[i] = (5 * i + 3 * rank) % 13;
    for (int t = 0; t < steps; t++) {
        exchange_ends(ring);
        advect(ring);
        std::swap(ring.u, ring.v);
    }
    double mine = 0.0;
    for (int i = 1; i <= ring.n; i++)
        mine += ring.u[i] * (1 + i % 5);
    return mine;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Pair pair(25, MPI_COMM_WORLD);
        for (int t = 0; t < 15; t++)
            pair.advance();
        const double both = pair.sum(), some = of_vector(10), owned = of_pointer(12);
        if (rank == 0)
            std::printf("planes %.12g %.12g %.12g\n", both, some, owned);
        std::printf("ring %d %.12g\n", rank, of_ring(20));
    }
    MPI_Finalize();
    return 0;
}
