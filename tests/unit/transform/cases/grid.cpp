// Diffusion on slabs: two vectors of one structure, a list of requests, each call of MPI checked.
#include <mpi.h>

#include <cstdio>
#include <vector>

static void check(int code, const char *call, int line) {
    if (code != MPI_SUCCESS) {
        std::fprintf(stderr, "%s failed at line %d\n", call, line);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
}
#define CHECK(call) check((call), #call, __LINE__)

struct Grid {
    int nx, ny;
    std::vector<double> h, next;
    Grid(int nx, int ny) : nx(nx), ny(ny), h((nx + 2) * ny, 0.0), next((nx + 2) * ny, 0.0) {}
};

struct Ranks {
    int me, all, left, right;
};

static void exchange(std::vector<double> &q, const Grid &g, const Ranks &r) {
    std::vector<MPI_Request> requests;
    const int n = g.ny;
    if (r.left != MPI_PROC_NULL) {
        requests.push_back(MPI_Request());
        CHECK(MPI_Irecv(&q[0], n, MPI_DOUBLE, r.left, 0, MPI_COMM_WORLD, &requests.back()));
        requests.push_back(MPI_Request());
        CHECK(MPI_Isend(&q[n], n, MPI_DOUBLE, r.left, 1, MPI_COMM_WORLD, &requests.back()));
    }
    if (r.right != MPI_PROC_NULL) {
        requests.emplace_back();
        CHECK(MPI_Irecv(&q[(g.nx + 1) * n], n, MPI_DOUBLE, r.right, 1, MPI_COMM_WORLD,
                        &requests.back()));
        requests.emplace_back();
        CHECK(MPI_Isend(&q[g.nx * n], n, MPI_DOUBLE, r.right, 0, MPI_COMM_WORLD,
                        &requests.back()));
    }
    CHECK(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

static void exchange_next(Grid &g, const Ranks &r) {
    double *q = g.next.data();
    const int n = g.ny;
    MPI_Request requests[4];
    int count = 0;
    if (r.left >= 0) CHECK(MPI_Irecv(&q[0], n, MPI_DOUBLE, r.left, 0, MPI_COMM_WORLD, &requests[count++]));
    if (r.right >= 0)
        CHECK(MPI_Irecv(&q[(g.nx + 1) * n], n, MPI_DOUBLE, r.right, 1, MPI_COMM_WORLD,
                        &requests[count++]));
    if (r.left >= 0) CHECK(MPI_Isend(&q[n], n, MPI_DOUBLE, r.left, 1, MPI_COMM_WORLD, &requests[count++]));
    if (r.right >= 0)
        CHECK(MPI_Isend(&q[g.nx * n], n, MPI_DOUBLE, r.right, 0, MPI_COMM_WORLD,
                        &requests[count++]));
    CHECK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void update(Grid &g) {
    const int ny = g.ny;
    for (int i = 1; i <= g.nx; ++i)
        for (int j = 1; j < ny - 1; ++j) {
            const int c = i * ny + j;
            g.next[c] = g.h[c] + 0.1 * (g.h[c - ny] + g.h[c + ny] + g.h[c - 1] + g.h[c + 1] - 4.0 * g.h[c]);
        }
}

static void back(Grid &g) {
    const int ny = g.ny;
    for (int i = 1; i <= g.nx; ++i)
        for (int j = 0; j < ny; ++j) {
            const int c = i * ny + j;
            g.h[c] = 0.5 * g.next[c] + 0.25 * (g.next[c - ny] + g.next[c + ny]);
        }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Ranks r;
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &r.me));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &r.all));
    r.left = r.me > 0 ? r.me - 1 : MPI_PROC_NULL;
    r.right = r.me < r.all - 1 ? r.me + 1 : MPI_PROC_NULL;
    Grid g(20, 32);
    for (int i = 0; i < g.nx + 2; ++i)
        for (int j = 0; j < g.ny; ++j) g.h[i * g.ny + j] = (r.me * 20 + i) * j % 17 + 0.1 * i;
    for (int s = 0; s < 10; ++s) {
        exchange(g.h, g, r);
        update(g);
        exchange_next(g, r);
        back(g);
    }
    double sum = 0;
    for (int i = 1; i <= g.nx; ++i)
        for (int j = 0; j < g.ny; ++j) sum += g.h[i * g.ny + j] * (1 + (i + 2 * j) % 5);
    std::printf("rank %d sum %.12e\n", r.me, sum);
    MPI_Finalize();
    return 0;
}
