/* Arrays by pointers to their rows: of one block, of rows of their own, allocated on the spot. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int up, down;

static double **block(int rows, int cols)
{
    double *data = malloc(rows * cols * sizeof(double));
    double **a = malloc(rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        a[i] = &data[i * cols];
    return a;
}

static float **separate(int rows, int cols)
{
    float **a = malloc(rows * sizeof *a);
    for (int i = 0; i < rows; i++)
        a[i] = calloc(cols, sizeof **a);
    return a;
}

static void end(double **a)
{
    free(a[0]);
    free(a);
}

static void exchange(double **u, int n, int m)
{
    MPI_Sendrecv(&u[1][0], m, MPI_DOUBLE, up, 1, &u[n + 1][0], m, MPI_DOUBLE, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[n][0], m, MPI_DOUBLE, down, 2, &u[0][0], m, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void jacobi(double **u, double **v, int n, int m)
{
    for (int i = 1; i <= n; i++) {
        const double *north = u[i - 1], *here = u[i], *south = u[i + 1];
        double *out = v[i];
        for (int j = 1; j < m - 1; j++)
            out[j] = 0.25 * (north[j] + south[j] + here[j - 1] + here[j + 1]);
    }
}

static void smooth(int n, int w, float *from[], float *to[])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < w - 1; j++)
            to[i][j] = 0.5f * from[i][j] + 0.25f * (from[i - 1][j] + from[i + 1][j]);
}

static int filled(int **cells, int rows, int cols)
{
    int sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            sum += cells[i][j] * (i + j);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, n = 8, m = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) {
        n = atoi(argv[1]);
        m = atoi(argv[2]);
    }
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    double **u = block(n + 2, m), **v = block(n + 2, m);
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = v[i][j] = rank + 0.1 * i + 0.01 * j * j;
    for (int s = 0; s < 6; s++) {
        exchange(u, n, m);
        jacobi(u, v, n, m);
        double **t = u;
        u = v;
        v = t;
    }

    float **x = separate(n + 2, m + 2), **y = separate(n + 2, m + 2);
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            x[i][j] = 0.5f * rank + 0.1f * i + j;
    for (int s = 0; s < 4; s++) {
        MPI_Sendrecv(x[n] + 1, m, MPI_FLOAT, down, 3, x[0] + 1, m, MPI_FLOAT, up, 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(x[1] + 1, m, MPI_FLOAT, up, 4, x[n + 1] + 1, m, MPI_FLOAT, down, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        smooth(n, m + 2, x, y);
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= m; j++)
                x[i][j] = y[i][j];
    }

    int **cells = malloc((n + 2) * sizeof(int *)), before = 0;
    cells[0] = malloc((n + 2) * m * sizeof(int));
    for (int i = 1; i < n + 2; i++)
        cells[i] = cells[i - 1] + m;
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            cells[i][j] = i + j + rank;
    MPI_Sendrecv(cells[n], m, MPI_INT, down, 5, cells[0], m, MPI_INT, up, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < m; j++)
            before += cells[i][j];

    double sum = before + filled(cells, n + 2, m), total;
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m; j++)
            sum += u[i][j] * (i + 2 * j) + x[i][j + 1] * j;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.12g\n", total);
    end(u);
    end(v);
    MPI_Finalize();
    return 0;
}
