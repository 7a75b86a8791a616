/* A plate of n columns, cut into bands of rows: Jacobi sweeps in which each rank puts (or gets) the
 * edges of its band while it sweeps the rows that need none.
 *
 *     onesided_halo fence|flush|polled|request|get [n] [rows] [steps]
 *
 * fence: between two fences. flush: in one passive epoch, flushed after the inner rows. polled: the
 * same with an MPI_Iprobe after each inner row. request: MPI_Rput, tested after each inner row.
 * get: MPI_Get of the neighbours' edges, polled. All print the same sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n = 32768, rows = 24, steps = 40, rank, ranks;
static double *plate, *next; /* rows 0 and rows + 1 are the neighbours' */
static MPI_Win windows[2];
static MPI_Request requests[2];
static enum { FENCE, FLUSH, POLLED, REQUEST, GET } how;

static void sweep(int row)
{
    const double *above = plate + (size_t)(row - 1) * n, *own = above + n, *below = own + n;
    double *into = next + (size_t)row * n;
    into[0] = own[0];
    into[n - 1] = own[n - 1];
    for (int i = 1; i < n - 1; i++)
        into[i] = 0.25 * (own[i - 1] + own[i + 1] + above[i] + below[i]);
}

static void poll(void)
{
    int yes;
    if (how == REQUEST)
        MPI_Testall(2, requests, &yes, MPI_STATUSES_IGNORE);
    else if (how == POLLED || how == GET)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &yes, MPI_STATUS_IGNORE);
}

/* Row `mine` of this band and row `theirs` of a neighbour's, in place of each other's copy. */
static void move(MPI_Win win, int neighbour, int mine, int theirs, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (neighbour < 0 || neighbour >= ranks)
        return;
    MPI_Aint at = (MPI_Aint)theirs * n;
    double *row = plate + (size_t)mine * n;
    if (how == GET)
        MPI_Get(row, n, MPI_DOUBLE, neighbour, at, n, MPI_DOUBLE, win);
    else if (how == REQUEST)
        MPI_Rput(row, n, MPI_DOUBLE, neighbour, at, n, MPI_DOUBLE, win, request);
    else
        MPI_Put(row, n, MPI_DOUBLE, neighbour, at, n, MPI_DOUBLE, win);
}

static void step(MPI_Win win)
{
    if (how == GET) { /* the copies here are what comes */
        MPI_Barrier(MPI_COMM_WORLD);
        move(win, rank - 1, 0, rows, &requests[0]);
        move(win, rank + 1, rows + 1, 1, &requests[1]);
    } else {
        move(win, rank - 1, 1, rows + 1, &requests[0]);
        move(win, rank + 1, rows, 0, &requests[1]);
    }
    for (int row = 2; row < rows; row++) {
        sweep(row);
        poll();
    }
    if (how == REQUEST)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (how == FENCE) {
        MPI_Win_fence(0, win);
    } else {
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
    }
    sweep(1);
    sweep(rows);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"fence", "flush", "polled", "request", "get"};
    int known = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 5 && argc > 1; i++)
        if (!strcmp(argv[1], names[i])) {
            how = i;
            known = 1;
        }
    n = argc > 2 ? atoi(argv[2]) : n;
    rows = argc > 3 ? atoi(argv[3]) : rows;
    steps = argc > 4 ? atoi(argv[4]) : steps;
    if (!known || n < 3 || rows < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    size_t points = (size_t)(rows + 2) * n;
    double *plates[2];
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate((MPI_Aint)(points * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &plates[i], &windows[i]);
        for (size_t k = 0; k < points; k++)
            plates[i][k] = 0;
        for (int row = 1; row <= rows; row++)
            plates[i][(size_t)row * n] = 1 + rank * rows + row;
        if (how == FENCE)
            MPI_Win_fence(0, windows[i]);
        else
            MPI_Win_lock_all(0, windows[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int k = 0; k < steps; k++) {
        plate = plates[k % 2];
        next = plates[1 - k % 2];
        step(windows[k % 2]);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody puts into a plate that is still read */
    }
    double seconds = MPI_Wtime() - begin, own = 0, sum = 0;
    for (size_t k = n; k < points - (size_t)n; k++)
        own += next[k];
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %.17g seconds %.3f\n", sum, seconds);
    for (int i = 0; i < 2; i++) {
        if (how == FENCE)
            MPI_Win_fence(0, windows[i]);
        else
            MPI_Win_unlock_all(windows[i]);
        MPI_Win_free(&windows[i]);
    }
    MPI_Finalize();
    return 0;
}
