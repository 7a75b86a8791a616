#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call fails. */
#define CHECK_MPI(call)                                                        \
    do {                                                                       \
        int status_ = (call);                                                  \
        if (status_ != MPI_SUCCESS) {                                          \
            char text_[MPI_MAX_ERROR_STRING];                                  \
            int length_;                                                       \
            MPI_Error_string(status_, text_, &length_);                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_); \
            MPI_Abort(MPI_COMM_WORLD, status_);                                \
        }                                                                      \
    } while (0)

#define N 2000
static double u[N + 2], v[N + 2];

static void exchange(double *f, int left, int right)
{
    CHECK_MPI(MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, left, 0, &f[N + 1], 1, MPI_DOUBLE, right, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_Sendrecv(&f[N], 1, MPI_DOUBLE, right, 1, &f[0], 1, MPI_DOUBLE, left, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int rank, size;
    CHECK_MPI(MPI_Init(&argc, &argv));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < N + 2; i++)
        u[i] = rank + i % 17;
    for (int t = 0; t < 50; t++) {
        exchange(u, left, right);
        for (int i = 1; i <= N; i++)
            v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i <= N; i++)
            u[i] = v[i];
    }
    double sum = 0, all;
    for (int i = 1; i <= N; i++)
        sum += u[i];
    CHECK_MPI(MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("%.12f\n", all);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
