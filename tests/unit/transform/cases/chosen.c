/* Fields are exchanged as options say, by a routine that does nothing else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 200
static int left, right, ranks, fields = 2, order = 1;
static double u[N + 2], v[N + 2], w[N + 2];

static void show(const double *a) /* left over from a debugging session */
{
    for (int i = 0; i < N + 2; i++)
        printf("%g\n", a[i]);
}

static void exchange(double *a)
{
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, left, 0, &a[N + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&a[N], 1, MPI_DOUBLE, right, 1, &a[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void exchange_all(void)
{
    if (ranks == 1)
        return;
    if (order == 0) {
        exchange(v);
        exchange(u);
    } else if (order == 1)
        exchange(u);
    else
        exchange(w);
    if (fields > 1 && order == 1)
        exchange(v);
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    if (argc > 1)
        fields = atoi(argv[1]);
    for (int i = 0; i < N + 2; i++)
        u[i] = rank + 0.001 * i;
    for (int step = 0; step < 30; step++) {
        exchange_all();
        for (int i = 1; i <= N; i++)
            w[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]) + v[i - 1] - v[i + 1];
        for (int i = 1; i <= N; i++) {
            v[i] = 0.5 * u[i];
            u[i] = w[i];
        }
    }
    for (int i = 1; i <= N; i++)
        sum += u[i];
    printf("%d %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
