/* Each field has its messages, packed and unpacked one field after the other. */
#include <mpi.h>
#include <stdio.h>
#define FIELDS 3
#define N 200
static int left, right;
static double u[FIELDS][N + 2], v[FIELDS][N + 2], out[FIELDS][2], in[FIELDS][2];

static void exchange(void)
{
    for (int k = 0; k < FIELDS; k++) {
        out[k][0] = u[k][1]; /* to the left */
        out[k][1] = u[k][N];
        MPI_Sendrecv(&out[k][0], 1, MPI_DOUBLE, left, k, &in[k][1], 1, MPI_DOUBLE, right, k,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out[k][1], 1, MPI_DOUBLE, right, FIELDS + k, &in[k][0], 1, MPI_DOUBLE, left,
                     FIELDS + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        /* what has come */
        if (right != MPI_PROC_NULL)
            u[k][N + 1] = in[k][1];
        if (left != MPI_PROC_NULL)
            u[k][0] = in[k][0];
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < N + 2; i++)
            u[k][i] = rank + 0.001 * i + k;
    for (int step = 0; step < 20; step++) {
        exchange();
        for (int k = 0; k < FIELDS; k++)
            for (int i = 1; i <= N; i++)
                v[k][i] = 0.5 * u[k][i] + 0.25 * (u[k][i - 1] + u[k][i + 1]);
        for (int k = 0; k < FIELDS; k++)
            MPI_Sendrecv(&v[k][1], 1, MPI_DOUBLE, left, 7, &v[k][N + 1], 1, MPI_DOUBLE, right, 7,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < FIELDS; k++)
            if (left != MPI_PROC_NULL || right != MPI_PROC_NULL)
                MPI_Sendrecv(&v[k][N], 1, MPI_DOUBLE, right, 8, &v[k][0], 1, MPI_DOUBLE, left, 8,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < FIELDS; k++)
            for (int i = 1; i <= N; i++)
                u[k][i] = 0.5 * v[k][i] + 0.25 * (v[k][i - 1] + v[k][i + 1]);
    }
    for (int k = 0; k < FIELDS; k++)
        for (int i = 1; i <= N; i++)
            sum += u[k][i] * (k + 1);
    printf("%d %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
