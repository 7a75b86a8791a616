// Planes whose halo has buffers that std::unique_ptr owns; the fields change places as objects.
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

class Field {
  public:
    Field(int planes, int plane) : plane_(plane), data_(new double[(planes + 2) * plane])
    {
        for (int i = 0; i < (planes + 2) * plane; i++)
            data_[i] = 0.0;
    }
    double &operator()(int k, int i) { return data_[k * plane_ + i]; }
    double operator()(int k, int i) const { return data_[k * plane_ + i]; }

  private:
    int plane_;
    std::unique_ptr<double[]> data_;
};

class Halo {
  public:
    Halo(MPI_Comm comm, int plane)
        : comm_(comm), plane_(plane), to_low_(std::make_unique<double[]>(plane)),
          to_high_(std::make_unique<double[]>(plane)), from_low_(new double[plane]),
          from_high_(new double[plane])
    {
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        low_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        high_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    }
    void exchange(Field &f, int planes)
    {
        for (int i = 0; i < plane_; i++) {
            to_low_[i] = f(1, i);
            to_high_[i] = f(planes, i);
        }
        MPI_Irecv(from_low_.get(), plane_, MPI_DOUBLE, low_, 10, comm_, &requests_[0]);
        MPI_Irecv(from_high_.get(), plane_, MPI_DOUBLE, high_, 11, comm_, &requests_[1]);
        MPI_Isend(to_low_.get(), plane_, MPI_DOUBLE, low_, 11, comm_, &requests_[2]);
        MPI_Isend(to_high_.get(), plane_, MPI_DOUBLE, high_, 10, comm_, &requests_[3]);
        MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
        if (low_ != MPI_PROC_NULL)
            for (int i = 0; i < plane_; i++)
                f(0, i) = from_low_[i];
        if (high_ != MPI_PROC_NULL)
            for (int i = 0; i < plane_; i++)
                f(planes + 1, i) = from_high_[i];
    }

  private:
    MPI_Comm comm_;
    int plane_, low_, high_;
    std::unique_ptr<double[]> to_low_, to_high_, from_low_, from_high_;
    MPI_Request requests_[4];
};

int main(int argc, char **argv)
{
    const int plane = 25, planes = 16;
    int rank;
    double total = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Halo halo(MPI_COMM_WORLD, plane);
        Field f(planes, plane), g(planes, plane);
        std::vector<double> work(500, 1.0);
        for (int k = 1; k <= planes; k++)
            for (int i = 0; i < plane; i++)
                f(k, i) = rank + 0.001 * i * k;
        for (int step = 0; step < 7; step++) {
            halo.exchange(f, planes);
            for (int i = 0; i < 500; i++)
                work[i] = 0.5 * work[i] + 0.01 * i;
            for (int k = 1; k <= planes; k++)
                for (int i = 0; i < plane; i++)
                    g(k, i) = 0.5 * f(k, i) + 0.25 * (f(k - 1, i) + f(k + 1, i)) + 1e-4 * work[k];
            std::swap(f, g);
        }
        for (int k = 1; k <= planes; k++)
            for (int i = 0; i < plane; i++)
                sum += f(k, i);
    }
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%.12e\n", total);
    MPI_Finalize();
    return 0;
}
