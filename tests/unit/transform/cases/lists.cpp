// Halo exchanges whose requests are in lists that live on: emptied in front of what fills them or
// behind the wait, sized once, and passed by reference.
#include <mpi.h>

#include <cstdio>
#include <vector>

struct Sides {
    int rank, up, down;
    explicit Sides(MPI_Comm comm) {
        int size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    }
};

// Copies handles into a list that begins anew each time.
class Filled {
  public:
    explicit Filled(const Sides &sides) : up_(sides.up), down_(sides.down) {}
    void begin(double *u, int rows, int n) {
        requests_.clear();
        requests_.reserve(4);
        MPI_Request request;
        MPI_Irecv(u, n, MPI_DOUBLE, up_, 0, MPI_COMM_WORLD, &request);
        requests_.push_back(request);
        MPI_Irecv(u + (rows + 1) * n, n, MPI_DOUBLE, down_, 1, MPI_COMM_WORLD, &request);
        requests_.push_back(request);
        MPI_Isend(u + n, n, MPI_DOUBLE, up_, 1, MPI_COMM_WORLD, &request);
        requests_.push_back(request);
        MPI_Isend(u + rows * n, n, MPI_DOUBLE, down_, 0, MPI_COMM_WORLD, &request);
        requests_.push_back(request);
    }
    void end() { MPI_Waitall((int)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE); }
    void exchange(double *u, int rows, int n) {
        begin(u, rows, n);
        end();
    }

  private:
    int up_, down_;
    std::vector<MPI_Request> requests_;
};

// Has its list from the beginning, each request in its place.
class Sized {
  public:
    explicit Sized(const Sides &sides) : up_(sides.up), down_(sides.down), requests_(4) {}
    void begin(double *u, int rows, int n) {
        MPI_Irecv(u, n, MPI_DOUBLE, up_, 2, MPI_COMM_WORLD, &requests_[0]);
        MPI_Irecv(u + (rows + 1) * n, n, MPI_DOUBLE, down_, 3, MPI_COMM_WORLD, &requests_[1]);
        MPI_Isend(u + n, n, MPI_DOUBLE, up_, 3, MPI_COMM_WORLD, &requests_[2]);
        MPI_Isend(u + rows * n, n, MPI_DOUBLE, down_, 2, MPI_COMM_WORLD, &requests_[3]);
    }
    void end() { MPI_Waitall(requests_.size(), requests_.data(), MPI_STATUSES_IGNORE); }

  private:
    int up_, down_;
    std::vector<MPI_Request> requests_;
};

// Begins and ends by itself; its list is empty in between.
class Whole {
  public:
    explicit Whole(const Sides &sides) : up_(sides.up), down_(sides.down) {}
    void exchange(double *u, int rows, int n) {
        add_receive(u, n, up_, 4);
        add_receive(u + (rows + 1) * n, n, down_, 5);
        requests_.emplace_back();
        MPI_Isend(u + n, n, MPI_DOUBLE, up_, 5, MPI_COMM_WORLD, &requests_.back());
        requests_.emplace_back();
        MPI_Isend(u + rows * n, n, MPI_DOUBLE, down_, 4, MPI_COMM_WORLD, &requests_.back());
        MPI_Waitall(requests_.size(), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
    }

  private:
    void add_receive(double *to, int n, int from, int tag) {
        MPI_Request request;
        MPI_Irecv(to, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
        requests_.push_back(request);
    }
    int up_, down_;
    std::vector<MPI_Request> requests_;
};

static void begin(const Sides &sides, double *u, int rows, int n,
                  std::vector<MPI_Request> &requests) {
    requests.assign(4, MPI_REQUEST_NULL);
    MPI_Irecv(u, n, MPI_DOUBLE, sides.up, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(u + (rows + 1) * n, n, MPI_DOUBLE, sides.down, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(u + n, n, MPI_DOUBLE, sides.up, 7, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(u + rows * n, n, MPI_DOUBLE, sides.down, 6, MPI_COMM_WORLD, &requests[3]);
}

static void end(std::vector<MPI_Request> &requests) {
    MPI_Waitall(static_cast<int>(requests.size()), &requests[0], MPI_STATUSES_IGNORE);
}

static void sweep(const double *u, double *v, int first, int last, int n) {
    for (int i = first; i <= last; i++)
        for (int j = 1; j < n - 1; j++)
            v[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                                   u[i * n + j + 1]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int rows = 20, n = 30;
    Sides sides(MPI_COMM_WORLD);
    Filled filled(sides);
    Sized sized(sides);
    Whole whole(sides);
    std::vector<MPI_Request> requests;
    std::vector<double> u((rows + 2) * n), v((rows + 2) * n);
    for (int i = 0; i < (rows + 2) * n; i++) u[i] = v[i] = (sides.rank * 20 + i) * 7 % 19;
    for (int step = 0; step < 5; step++) {
        filled.begin(u.data(), rows, n);
        filled.end();
        sweep(u.data(), v.data(), 1, rows, n);
        sized.begin(v.data(), rows, n);
        sized.end();
        sweep(v.data(), u.data(), 1, rows, n);
        whole.exchange(u.data(), rows, n);
        sweep(u.data(), v.data(), 1, rows, n);
        begin(sides, v.data(), rows, n, requests);
        end(requests);
        sweep(v.data(), u.data(), 1, rows, n);
        filled.exchange(u.data(), rows, n);
        sweep(u.data(), v.data(), 1, rows, n);
        for (int i = n; i < (rows + 1) * n; i++) u[i] = v[i];
    }
    double sum = 0;
    for (int i = 0; i < (rows + 2) * n; i++) sum += u[i] * (1 + i % 5);
    std::printf("rank %d sum %.12e\n", sides.rank, sum);
    MPI_Finalize();
    return 0;
}
