/* Exchanges that go to a label where MPI fails, and free their buffers there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != MPI_SUCCESS)                                                                 \
            goto failed;                                                                           \
    } while (0)

enum { ROWS = 60, COLS = 40 };

static int above, below;

static int swap_rows(double (*t)[COLS])
{
    int rc;
    double *down = malloc(COLS * sizeof *down), *up = malloc(COLS * sizeof *up);
    for (int j = 0; j < COLS; j++) {
        down[j] = t[ROWS][j];
        up[j] = t[0][j];
    }
    rc = MPI_Sendrecv(down, COLS, MPI_DOUBLE, below, 1, up, COLS, MPI_DOUBLE, above, 1,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "swap_rows: %d\n", rc);
        goto done;
    }
    for (int j = 0; j < COLS; j++)
        t[0][j] = up[j];
done:
    free(down);
    free(up);
    return rc;
}

static int raise_row(double (*t)[COLS])
{
    TRY(MPI_Sendrecv(t[1], COLS, MPI_DOUBLE, above, 2, t[ROWS + 1], COLS, MPI_DOUBLE, below, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return 0;
failed:
    fprintf(stderr, "raise_row\n");
    return 1;
}

static void diffuse(double (*to)[COLS], double (*from)[COLS])
{
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j < COLS - 1; j++)
            to[i][j] = 0.125 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) +
                       0.5 * from[i][j];
}

int main(int argc, char **argv)
{
    static double one[ROWS + 2][COLS], two[ROWS + 2][COLS];
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS; j++)
            one[i][j] = two[i][j] = (7 * i + 3 * j + rank) % 16;
    for (int step = 0; step < 20; step++) {
        if (swap_rows(one) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
        diffuse(two, one);
        if (raise_row(two))
            MPI_Abort(MPI_COMM_WORLD, 2);
        diffuse(one, two);
    }
    for (int i = 1; i <= ROWS; i++)
        for (int j = 0; j < COLS; j++)
            sum += one[i][j] * (i + j);
    printf("rank %d: %.12g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
