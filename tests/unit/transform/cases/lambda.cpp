// The stencil names its elements through a lambda that only returns one of them.
#include <mpi.h>
#include <cstdio>
#include <utility>

class Life {
public:
    Life(int rows, int cols, int rank, int size) : rows_(rows), cols_(cols) {
        up_ = (rank + size - 1) % size;
        down_ = (rank + 1) % size;
        now_ = new int[(rows + 2) * (cols + 2)]();
        next_ = new int[(rows + 2) * (cols + 2)]();
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j <= cols; j++)
                now_[i * (cols + 2) + j] = (i * 13 + j * 7 + rank * 5) % 3 == 0;
    }

    ~Life() {
        delete[] now_;
        delete[] next_;
    }

    void exchange() {
        int w = cols_ + 2;
        MPI_Request r[4];
        MPI_Irecv(now_, w, MPI_INT, up_, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(now_ + (rows_ + 1) * w, w, MPI_INT, down_, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(now_ + w, w, MPI_INT, up_, 2, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(now_ + rows_ * w, w, MPI_INT, down_, 1, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }

    int evolve() {
        int alive = 0;
        auto at = [&](int i, int j) { return now_[i * (cols_ + 2) + j]; };
        for (int i = 1; i <= rows_; i++)
            for (int j = 1; j <= cols_; j++) {
                int n = at(i - 1, j - 1) + at(i - 1, j) + at(i - 1, j + 1) + at(i, j - 1) +
                        at(i, j + 1) + at(i + 1, j - 1) + at(i + 1, j) + at(i + 1, j + 1);
                next_[i * (cols_ + 2) + j] = n == 3 || (n == 2 && at(i, j));
                alive += next_[i * (cols_ + 2) + j];
            }
        std::swap(now_, next_);
        return alive;
    }

private:
    int rows_, cols_, up_, down_;
    int *now_, *next_;
};

int main(int argc, char **argv) {
    int rank, size, alive = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Life life(30, 40, rank, size);
        for (int s = 0; s < 10; s++) {
            life.exchange();
            alive = life.evolve();
            std::printf("%d %d %d\n", rank, s, alive);
        }
    }
    MPI_Finalize();
    return 0;
}
