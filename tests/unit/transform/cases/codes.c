/* Error codes that declarations take and conditions ask for, of starts, waits and exchanges. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400 };

static double u[N + 2], v[N], w[N], total;
static int left, right;

static void complain(const char *stage, int code)
{
    fprintf(stderr, "%s: %d\n", stage, code);
}

static int begin_and_end(void)
{
    MPI_Request requests[4];
    int rc = MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    if (rc != MPI_SUCCESS) {
        complain("receive", rc);
        return rc;
    }
    rc |= MPI_Irecv(&u[N + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    rc |= MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
    rc |= MPI_Isend(&u[N], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    if (rc != MPI_SUCCESS)
        return rc;
    const int done = MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (done != MPI_SUCCESS) {
        complain("wait", done);
        return done;
    }
    for (int i = 0; i < N; i++)
        w[i] = 0.5 * w[i] + 0.1 * v[i];
    w[0] += 0.1 * u[0];
    w[N - 1] += 0.1 * u[N + 1];
    return MPI_SUCCESS;
}

static int shift(void)
{
    for (int i = 0; i < N; i++)
        v[i] = 0.25 * (v[i] + w[i]);
    int rc;
    if ((rc = MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 3, &u[N + 1], 1, MPI_DOUBLE, right, 3,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE)) != MPI_SUCCESS) {
        complain("exchange", rc);
        return rc;
    }
    for (int i = 0; i < N; i++)
        v[i] += 1e-3 * w[i];
    v[N - 1] += 0.1 * u[N + 1];
    for (int i = 1; i <= N; i++)
        u[i] = 0.5 * u[i] + v[i - 1];
    return MPI_SUCCESS;
}

static int add_up(void)
{
    double mine = w[0] + v[0];
    if (MPI_Sendrecv(&mine, 1, MPI_DOUBLE, right, 4, &total, 1, MPI_DOUBLE, left, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return 1;
    for (int i = 0; i < N; i++)
        w[i] = 0.9 * w[i];
    w[1] += 1e-6 * total;
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < N + 2; i++)
        u[i] = rank + 0.01 * i;
    for (int step = 0; step < 20; step++) {
        failed += begin_and_end() != MPI_SUCCESS;
        failed += shift() != MPI_SUCCESS;
        failed += add_up();
    }
    printf("%d: %.15g %.15g %d\n", rank, w[0] + w[N - 1], v[0] + v[N - 1] + u[1], failed);
    MPI_Finalize();
    return failed;
}
